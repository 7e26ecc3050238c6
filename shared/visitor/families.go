package visitor

// family is a name and the texts that identify it. In a table, earlier families take precedence, because almost every
// program also claims to be an older one. A text that begins with ^ counts only at the start of the User-Agent.
type family struct {
	name  string
	texts []string
}

// browsers lists first the apps with an in-app browser, then the browsers that are built on others, and last those that
// others are built on.
var browsers = []family{
	{"Instagram", []string{"Instagram "}},
	{"Threads", []string{"Barcelona "}},
	{"Messenger", []string{"FBAN/Messenger", "MessengerForiOS", "MessengerLite", "Orca-Android", "FB_IAB/MESSENGER"}},
	{"Facebook", []string{"FBAN/", "FBAV/", "FB_IAB/", "FBIOS"}},
	{"Douyin", []string{"aweme_", "aweme/"}},
	{"TikTok", []string{"TikTok", "musical_ly", "BytedanceWebview", "trill_"}},
	{"WeChat", []string{"MicroMessenger"}},
	{"Line", []string{" Line/"}},
	{"KakaoTalk", []string{"KAKAOTALK"}},
	{"Snapchat", []string{"Snapchat"}},
	{"Twitter", []string{"Twitter for", "TwitterAndroid"}},
	{"LinkedIn", []string{"LinkedInApp"}},
	{"Pinterest", []string{"Pinterest/"}},
	{"Telegram", []string{"Telegram-Android", "Telegram-iOS"}},
	{"Zalo", []string{"Zalo "}},
	{"Viber", []string{" Viber/"}},
	{"Weibo", []string{"Weibo", "weibo"}},
	{"Alipay", []string{"AlipayClient"}},
	{"DingTalk", []string{"DingTalk", "dingtalk"}},
	{"Naver", []string{"NAVER(inapp"}},
	{"Daum", []string{"DaumApps"}},
	{"Baidu", []string{"baiduboxapp", "BIDUBrowser", "baidubrowser", "baiduhao"}},
	{"Microsoft Teams", []string{"Teams/", "TeamsMobile"}},
	{"Slack", []string{"Slack_SSB", "Slack/"}},
	{"Discord", []string{"discord/", "Discord/"}},
	{"Google App", []string{"GSA/"}},
	{"DuckDuckGo", []string{"DuckDuckGo/", "Ddg/"}},

	{"Samsung Internet", []string{"SamsungBrowser/", "SAMSUNG Browser"}},
	{"Opera", []string{"OPR/", "OPiOS/", "OPT/", "OPX/", "Opera/", "Opera ", "Opera Mini", "OPRGX/"}},
	{"UC Browser", []string{"UCBrowser", "UBrowser/", "UCWEB", "UC Browser"}},
	{"Yandex Browser", []string{"YaBrowser/", "YaSearchBrowser/", "YaApp_"}},
	{"Vivaldi", []string{"Vivaldi/"}},
	{"Brave", []string{"Brave/", "Brave Chrome/"}},
	{"Whale", []string{"Whale/"}},
	{"Mi Browser", []string{"MiuiBrowser/"}},
	{"Huawei Browser", []string{"HuaweiBrowser/"}},
	{"Honor Browser", []string{"HonorBrowser/"}},
	{"HeyTap Browser", []string{"HeyTapBrowser/", "OppoBrowser/"}},
	{"vivo Browser", []string{"VivoBrowser/"}},
	{"Amazon Silk", []string{"Silk/", "Silk-Accelerated"}},
	{"QQ", []string{" QQ/"}},
	{"QQ Browser", []string{"QQBrowser/", "MQQBrowser"}},
	{"Quark", []string{"Quark/"}},
	{"Sogou Browser", []string{"SogouMobileBrowser", "MetaSr", "SogouMSE"}},
	{"360 Browser", []string{"360SE", "360EE", "QihooBrowser", "QIHU 360"}},
	{"Meta Quest Browser", []string{"OculusBrowser/"}},
	{"Coc Coc", []string{"coc_coc_browser", "CocCoc"}},
	{"Ecosia", []string{"Ecosia ", "(Ecosia"}},
	{"Avast Secure Browser", []string{"Avast/", "AvastSecureBrowser"}},
	{"AVG Secure Browser", []string{"AVG/"}},
	{"Maxthon", []string{"Maxthon", "MXiOS/"}},
	{"Puffin", []string{"Puffin/"}},
	{"Aloha", []string{"AlohaBrowser/"}},
	{"Phoenix", []string{"PHX/"}},
	{"Sleipnir", []string{"Sleipnir/"}},
	{"Iron", []string{"Iron/", " Iron "}},
	{"Falkon", []string{"Falkon/", "QupZilla/"}},
	{"Pale Moon", []string{"PaleMoon/"}},
	{"Waterfox", []string{"Waterfox/"}},
	{"SeaMonkey", []string{"SeaMonkey/"}},
	{"Camino", []string{"Camino/"}},
	{"Konqueror", []string{"Konqueror", "konqueror"}},
	{"GNOME Web", []string{"Epiphany/"}},
	{"Arc", []string{"ArcMobile", " Arc/"}},
	{"Electron", []string{"Electron/"}},
	{"PlayStation Browser", []string{"PlayStation", "PLAYSTATION"}},
	{"Nintendo Browser", []string{"NintendoBrowser", "NetFront", "Nintendo 3DS", "Nintendo WiiU"}},
	{"ArkWeb", []string{"ArkWeb/"}},

	{"Edge", []string{"Edg/", "EdgA/", "EdgiOS/", "Edge/", "EdgW/"}},
	{"Firefox", []string{"FxiOS/", "Firefox/", "Focus/", "Klar/", "Fennec/"}},
	{"Internet Explorer", []string{"MSIE ", "Trident/", "IEMobile"}},
	{"Chromium", []string{"Chromium/"}},
	{"Chrome", []string{"CriOS/", "Chrome/", "CrMo/"}},
	{"Nokia Browser", []string{"NokiaBrowser", "BrowserNG", "SymbianOS"}},
	{"BlackBerry Browser", []string{"^BlackBerry", "BlackBerry;"}},
	{"Lynx", []string{"^Lynx/"}},
	{"Links", []string{"^Links ", "^ELinks"}},
	{"w3m", []string{"^w3m/"}},
	{"Safari", []string{"Safari/"}},
}

// systems lists first the systems that claim to be others, and last those that others claim to be.
var systems = []family{
	{"Windows Phone", []string{"Windows Phone", "IEMobile", "WPDesktop"}},
	{"Xbox", []string{"Xbox"}},
	{"KaiOS", []string{"KAIOS", "KaiOS"}},
	{"Tizen", []string{"Tizen", "TIZEN"}},
	{"webOS", []string{"Web0S", "webOS", "WEBOS", "hpwOS"}},
	{"PlayStation", []string{"PlayStation", "PLAYSTATION"}},
	{"Nintendo", []string{"Nintendo"}},
	{"Roku", []string{"Roku"}},
	{"tvOS", []string{"AppleTV", "Apple TV", "tvOS"}},
	{"watchOS", []string{"watchOS", "Apple Watch"}},
	{"BlackBerry", []string{"BlackBerry", "BB10", "PlayBook"}},
	{"HarmonyOS", []string{"OpenHarmony"}},
	{"iOS", []string{"iPhone", "iPad", "iPod", "CPU OS "}},
	{"Symbian", []string{"Symbian", "SymbOS", "Series60", "Series40", "S60;"}},
	{"Android", []string{"Android", "OculusBrowser/", "Silk-Accelerated", "^UCWEB/2.0 (Linux", "Adr "}},
	{"HarmonyOS", []string{"HarmonyOS"}},
	{"ChromeOS", []string{"CrOS"}},
	{"Windows", []string{"Windows", "Win98", "Win95", "WinNT"}},
	{"macOS", []string{"Macintosh", "Mac OS X", "Mac_PowerPC"}},
	{"BSD", []string{"FreeBSD", "OpenBSD", "NetBSD", "DragonFly"}},
	{"Solaris", []string{"SunOS"}},
	{"Fuchsia", []string{"Fuchsia"}},
	{"Linux", []string{"Linux", "X11", "Ubuntu"}},
}

// The indexes of forms.
const (
	formOther = iota
	formTablet
	formPhone
)

// forms lists texts that identify a form of device. Many of these tablets also send "Mobile".
var forms = []family{
	formOther: {"", []string{
		"SmartTV", "SMART-TV", "Smart-TV", "Smart TV", "GoogleTV", "Google TV", "AppleTV", "Apple TV", "Android TV", "AndroidTV",
		"BRAVIA", "Bravia", "HbbTV", "Web0S", "webOS.TV", "NetCast", "Roku", "CrKey", "MiTV", "MIBOX", "Mi TV", "Viera", "VIERA",
		"TV Safari",
		"VIDAA", "Large Screen", "Chromecast", "InettvBrowser", "Opera TV", "AQUOS TV", "PhilipsTV",
		"; AFTS", "; AFTM", "; AFTT", "; AFTB", "; AFTK", "; AFTN", "; AFTA", "; AFTR", "; AFTW", "; AFTL", "; AFTE", "; AFTG", "; AFTP",
		"PlayStation", "PLAYSTATION", "Xbox", "Nintendo", "OculusBrowser/", "; Quest", "Pico Neo", "Apple Watch", "watchOS", "Tesla/",
		"QtCarBrowser",
	}},
	formTablet: {"", []string{
		"iPad", "Tablet", "tablet", "PlayBook", "Kindle", "; KF", "SM-T", "SM-X", "SM-P", "GT-P", "GT-N8", "SHW-M180",
		"SHW-M380", "SCH-I800",
		"Galaxy Tab", "Nexus 7", "Nexus 9", "Nexus 10", "Pixel C ", "Pixel C)", "Lenovo TB", "; TB-", "; TB3", "; TB1", "; TB5",
		"Lenovo YT", "YOGA Tab",
		"MediaPad", "MatePad", "; AGS", "; BAH", "; SCMR", "; MRR-", "; KOB", "; CMR-", "; JDN", "; DBY-", "; BTK-", "; BZT-",
		"Xoom", "Transformer", "Mi Pad", "MI PAD", "Redmi Pad", "Xiaomi Pad", "HONOR Pad", "Lenovo Pad", "OPPO Pad", "OnePlus Pad",
		"; OPD2", "; OPD1", "LG-V4", "LG-V5", "LG-V7", "LG-V9", "; iPlay", "TECLAST", "hp-tablet", "TouchPad", "ThinkPad Tab",
		"realme Pad", "; RMP2",
	}},
	formPhone: {"", []string{
		"iPhone", "iPod", "Windows Phone", "IEMobile", "BB10", "BlackBerry", "Symbian", "SymbOS", "Series60", "Series40", "KAIOS", "KaiOS",
		"Opera Mini",
		"Opera Mobi", "J2ME", "MIDP", "webOS/1", "webOS/2", "hpwOS", "(Phone;", "^Nokia", "^SAMSUNG", "^LG-", "^SonyEricsson", "^MOT-",
		"UCWEB/2.0 (MIDP",
	}},
}

// The signs, as bits.
const (
	signMobile      = 1 << iota
	signMobileBuild // "Mobile/" with a build number, as iOS sends it
	signWebView
	signWebKit
	signPerson // begins like a browser
	signRobot
	signPreview
)

var signs = []struct {
	sign uint8
	text string
}{
	{signMobile, "Mobile"},
	{signMobile, "mobile"},
	{signMobileBuild, "Mobile/"},
	{signWebView, "; wv)"},
	{signWebKit, "AppleWebKit"},

	{signPerson, "^Mozilla/"},
	{signPerson, "^Opera/"},
	{signPerson, "^UCWEB"},
	{signPerson, "^Nokia"},
	{signPerson, "^SAMSUNG"},
	{signPerson, "^BlackBerry"},
	{signPerson, "^LG-"},
	{signPerson, "^SonyEricsson"},
	{signPerson, "^MOT-"},
	{signPerson, "^Lynx/"},
	{signPerson, "^Links ("},
	{signPerson, "^ELinks"},
	{signPerson, "^w3m/"},

	{signRobot, "http://"},
	{signRobot, "https://"},
	{signRobot, "mailto:"},
	{signRobot, "crawl"},
	{signRobot, "Crawl"},
	{signRobot, "spider"},
	{signRobot, "Spider"},
	{signRobot, "scrap"},
	{signRobot, "Scrap"},
	{signRobot, "Headless"},
	{signRobot, "headless"},
	{signRobot, "ink preview"},
	{signRobot, "ink Preview"},
	{signRobot, "inkPreview"},
	{signRobot, "inkpreview"},
	{signRobot, "prerender"},
	{signRobot, "Prerender"},
}
