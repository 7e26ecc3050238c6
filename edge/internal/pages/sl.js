// Keeps the click id with which a visitor came to a web site, and sends conversions. Served as /sl.js, see script.go.
//
//   <script async src="https://go.example.com/sl.js" data-key="THE PUBLISHABLE KEY"></script>
//
// sl.track(name, {value, currency, externalId}), or sl(…) for short, sends a conversion. Calls before the script is there wait in
// sl.q. data-param names the query parameter and the cookie (default: sl_click); data-domain gives the cookie to all subdomains.
// Browsers that lack something keep the page working: every call does nothing then.
(function (w, d) {
  var s = d.currentScript, o = s.dataset, p = o.param || "sl_click",
    found = new URLSearchParams(location.search).get(p),
    kept = (d.cookie.match("(?:^|; )" + p + "=([\\w-]{32})") || [])[1],
    queue = (w.sl || {}).q || [];
  // The time of a click is in the characters 6 to 12 of its id. The newest click wins, also when an old page is loaded again.
  function t(id) {
    return atob("A" + id.substr(6, 7).replace(/-/g, "+").replace(/_/g, "/"));
  }
  if (/^[\w-]{32}$/.test(found) && !(kept && t(kept) > t(found))) {
    kept = found;
    d.cookie = p + "=" + kept + ";path=/;max-age=7776000;samesite=lax" + (o.domain ? ";domain=" + o.domain : "") + (location.protocol == "https:" ? ";secure" : "");
  }
  function track(name, more) {
    if (!kept) return;
    var u = new URL("/c", s.src), b = JSON.stringify(Object.assign({ key: o.key, clickId: kept, name: name }, more)), n = navigator;
    n.sendBeacon && n.sendBeacon(u, b) || fetch(u, { method: "POST", body: b, keepalive: true });
  }
  track.track = w.sl = track;
  track.id = kept;
  queue.forEach(function (a) { track.apply(0, a); });
})(window, document);
