package imports

import (
	"context"
	"iter"
	"os"
	"strconv"
	"strings"
)

// fromDump reads the links of a service from a dump of its database.
type fromDump struct {
	name   string // of the file
	host   string // of the service; "" means unknown
	tables func(table string) bool
	add    func(d *fromDump, table string, row dumpRow)
	record func(d *fromDump, row dumpRow) Record
	rows   []dumpRow            // of links
	other  map[string][]dumpRow // of other tables
}

// dumpPage is how many links of a dump are one page.
const dumpPage = 1000

// Pages implements Source. The cursor is the number of links before a page.
func (d *fromDump) Pages(ctx context.Context, cursor string) iter.Seq2[Page, error] {
	return func(yield func(Page, error) bool) {
		if err := d.loadTables(); err != nil {
			yield(Page{}, err)
			return
		}
		for before := atoi(cursor); ctx.Err() == nil; before += dumpPage {
			page := Page{Total: len(d.rows)}
			end := min(before+dumpPage, len(d.rows))
			for _, row := range d.rows[min(before, end):end] {
				page.Records = append(page.Records, d.record(d, row))
			}
			if end < len(d.rows) {
				page.Next = strconv.Itoa(end)
			}
			if !yield(page, nil) || page.Next == "" {
				return
			}
		}
	}
}

func (d *fromDump) loadTables() error {
	file, err := os.Open(d.name)
	if err != nil {
		return err
	}
	defer file.Close()
	d.rows, d.other = nil, map[string][]dumpRow{}
	return newDump(file).eachRow(d.tables, func(table string, row dumpRow) { d.add(d, table, row) })
}

// by returns the values of a column of another table by those of a key.
func (d *fromDump) by(table, key, column string) map[string]string {
	out := map[string]string{}
	for _, row := range d.other[table] {
		out[row.get(key)] = row.get(column)
	}
	return out
}

// count returns a number of a row, or 0.
func count(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// isTrue reads a truth value as databases write it.
func isTrue(text string) bool { return text == "t" || text == "1" || strings.EqualFold(text, "true") }

// sorted keeps the rows of links apart from those of other tables.
func sorted(links string) func(*fromDump, string, dumpRow) {
	return func(d *fromDump, table string, row dumpRow) {
		if table == links {
			d.rows = append(d.rows, row)
		} else {
			d.other[table] = append(d.other[table], row)
		}
	}
}

func anyOf(names ...string) func(string) bool {
	return func(table string) bool {
		for _, name := range names {
			if table == name {
				return true
			}
		}
		return false
	}
}

// yourlsDump reads the table yourls_url, whose prefix can be another one.
func yourlsDump(name, host string) Source {
	return &fromDump{name: name, host: host, tables: func(table string) bool { return strings.HasSuffix(table, "_url") },
		add: func(d *fromDump, _ string, row dumpRow) {
			if row.get("keyword") != "" && row.get("url") != "" {
				d.rows = append(d.rows, row)
			}
		},
		record: func(d *fromDump, row dumpRow) Record {
			l := yourlsLink{ShortURL: "http://" + d.host + "/" + row.get("keyword"), URL: row.get("url"), Title: row.get("title"),
				Timestamp: row.get("timestamp"), Clicks: number(count(row.get("clicks")))}
			return l.asRecord()
		}}
}

// kuttDump reads the tables links and domains. A dump has the hashes of passwords, which the API does not tell.
func kuttDump(name, host string) Source {
	var domains map[string]string
	return &fromDump{name: name, host: host, tables: anyOf("links", "domains"), add: sorted("links"),
		record: func(d *fromDump, row dumpRow) Record {
			if domains == nil {
				domains = d.by("domains", "id", "address")
			}
			at := Address{d.host, row.get("address")}
			if domain := domains[row.get("domain_id")]; domain != "" {
				at.Host = strings.ToLower(domain)
			}
			r := Record{ID: row.get("uuid"), Address: at, Destination: row.get("target"), Notes: row.get("description"),
				Clicks: count(row.get("visit_count")), PasswordHash: row.get("password")}
			if r.ID == "" {
				r.ID = row.get("id")
			}
			r.times(timeField{"creation date", row.get("created_at"), &r.Created}, timeField{"end", row.get("expire_in"), &r.Expires})
			if isTrue(row.get("banned")) {
				r.Refused = "an administrator of Kutt has banned it"
			}
			return r
		}}
}

// shlinkDump reads the tables of Shlink with links, domains and tags.
func shlinkDump(name, host string) Source {
	var domains, tags map[string]string
	var tagged map[string][]string
	var ruled map[string]string
	return &fromDump{name: name, host: host, add: sorted("short_urls"),
		tables: anyOf("short_urls", "domains", "tags", "short_urls_in_tags", "short_url_redirect_rules"),
		record: func(d *fromDump, row dumpRow) Record {
			if domains == nil {
				domains, tags, tagged = d.by("domains", "id", "authority"), d.by("tags", "id", "name"), map[string][]string{}
				ruled = d.by("short_url_redirect_rules", "short_url_id", "id")
				for _, pair := range d.other["short_urls_in_tags"] {
					tagged[pair.get("short_url_id")] = append(tagged[pair.get("short_url_id")], tags[pair.get("tag_id")])
				}
			}
			at := Address{d.host, row.get("short_code")}
			if domain := domains[row.get("domain_id")]; domain != "" {
				at.Host = strings.ToLower(domain)
			}
			r := Record{ID: at.String(), Address: at, Destination: row.get("original_url"), Title: row.get("title"),
				MaxClicks: count(row.get("max_visits")), Tags: append([]string{}, tagged[row.get("id")]...)}
			r.times(timeField{"creation date", row.get("date_created"), &r.Created},
				timeField{"validSince", row.get("valid_since"), &r.Starts}, timeField{"validUntil", row.get("valid_until"), &r.Expires})
			if r.MaxClicks > 0 {
				r.lose("the limit of visits counts from 0 again")
			}
			if ruled[row.get("id")] != "" {
				r.lose("rules are imported only from the API")
			}
			return r
		}}
}
