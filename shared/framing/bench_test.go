package framing

import "testing"

// usual is a browser's request for a link, the most frequent request of an edge.
const usual = "GET /p1Zk3xY HTTP/1.1\r\nHost: sho.rt\r\nConnection: keep-alive\r\nsec-ch-ua: \"Chromium\";v=\"142\", \"Google Chrome\";v=\"142\", \"Not_A Brand\";v=\"99\"\r\nsec-ch-ua-mobile: ?0\r\nsec-ch-ua-platform: \"Windows\"\r\nUpgrade-Insecure-Requests: 1\r\nUser-Agent: Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36\r\nAccept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8\r\nSec-Fetch-Site: cross-site\r\nAccept-Encoding: gzip, deflate, br, zstd\r\nReferer: https://news.example.com/2026/03/article\r\nAccept-Language: de-CH,de;q=0.9,en;q=0.8\r\n\r\n"

func BenchmarkTracker(b *testing.B) {
	var t Tracker
	request := []byte(usual)
	b.ReportAllocs()
	for b.Loop() {
		if n, err := t.Take(request); n != len(request) || err != nil || !t.Between() {
			b.Fatal(n, err)
		}
	}
}
