package imports

import (
	"strings"
	"testing"
)

// layouts are the columns of files that people bring, with the field that each column fills, as COLUMN=FIELD. They were
// collected from the public documentation and the public exporters and importers that source names. No account of a hosted
// service was used.
var layouts = []struct{ product, source, columns string }{
	{"Bitly", "CSV of the page Links, 2024: guide for migrations of URLR, script of ramsey/website (the name of the fourth column is a guess)",
		"Link= Custom Link=slug Date Created=createdAt Title=title Destination URL=originalUrl"},
	{"Bitly", "CSV of a group's links, with the column Bitlink: importer of DhananjayThomble/URL-Shortener-App",
		"Bitlink=slug Title=title Long URL=originalUrl Tags=tags Created=createdAt Total Clicks= Campaign= Archived="},
	{"Bitly", "CSV with the names of the API: tests of public importers",
		"long_url=originalUrl link=slug title=title created_at=createdAt archived="},
	{"Bitly", "CSV with a column for the custom back-half: importer of Go2",
		"link= long_url=originalUrl title=title created_at=createdAt tags=tags clicks= custom_bitlink=slug domain=domain"},
	{"Bitly", "API v4, GET /groups/{guid}/bitlinks",
		"created_at=createdAt id= link= custom_bitlinks=slug title=title archived= created_by= client_id= tags=tags deeplinks= " +
			"long_url=originalUrl references="},
	{"Bitly", "API v3, /user/link_history (until 2020)",
		"aggregate_link= archived= client_id= created_at=createdAt keyword_link=slug link= long_url=originalUrl modified_at= private= " +
			"title=title user_ts="},
	{"Rebrandly", "CSV of the list of links: public importers", "Domain=domain Slashtag=slug Destination=originalUrl Title=title Clicks="},
	{"Rebrandly", "API v1, link entity, flattened",
		"id= title=title slashtag=slug destination=originalUrl shortUrl= domain.id= domain.fullName=domain createdAt=createdAt " +
			"updatedAt= clicks= lastClickAt= favourite="},
	{"Rebrandly", "rebrandly-links-export", "id= createdAt=createdAt shortUrl= domain=domain slashtag=slug destination=originalUrl"},
	{"Short.io", "API, link object",
		"id= originalURL=originalUrl path=slug shortURL= secureShortURL= idString= title=title tags=tags createdAt=createdAt updatedAt= " +
			"expiresAt=expiresAt expiredURL=expiredUrl clicksLimit=maxClicks redirectType=redirectCode archived= cloaking= hasPassword= " +
			"utmSource=utmSource utmMedium=utmMedium utmCampaign=utmCampaign utmTerm=utmTerm utmContent=utmContent"},
	{"Short.io", "TSV of PyShortIO 0.1",
		"id= short_url= original_url=originalUrl title=title path=slug tags=tags folder_name= clicks_limit=maxClicks cloaking= password= " +
			"redirect_type=redirectCode ttl= expire_at=expiresAt expire_url=expiredUrl utm_source=utmSource utm_medium=utmMedium " +
			"utm_campaign=utmCampaign utm_term=utmTerm utm_content=utmContent android_url= iphone_url= archived= split_url="},
	{"Dub", "CSV export, since 2024",
		"Short link=slug Destination URL=originalUrl Clicks= Created at=createdAt Updated at= Tags=tags Archived="},
	{"Dub", "CSV with the columns Key and Folder: importer of URL-Shortener-App",
		"Key=slug Destination URL=originalUrl Title=title Description=notes Tags=tags Created At=createdAt Clicks= Archived= Folder="},
	{"Dub", "API, link object since 2023",
		"id= domain=domain key=slug url=originalUrl externalId=externalId trackConversion=trackConversions archived= expiresAt=expiresAt " +
			"expiredUrl=expiredUrl password= proxy= title=title description= image= rewrite= ios= android= geo= tags=tags comments=notes " +
			"shortLink= qrCode= utm_source=utmSource utm_medium=utmMedium utm_campaign=utmCampaign utm_term=utmTerm utm_content=utmContent " +
			"clicks= lastClicked= createdAt=createdAt updatedAt="},
	{"YOURLS", "table yourls_url, all versions since 1.5, and the CSV of import plugins",
		"keyword=slug url=originalUrl title=title timestamp=createdAt ip= clicks="},
	{"YOURLS", "API, action=stats", "shorturl=slug url=originalUrl title=title timestamp=createdAt ip= clicks="},
	{"Shlink", "CSV of the web client until 3.7", "createdAt=createdAt shortUrl=slug longUrl=originalUrl title=title tags=tags visits="},
	{"Shlink", "CSV of the web client since 3.8 and of shlink-web-component",
		"createdAt=createdAt domain=domain shortCode=slug shortUrl= longUrl=originalUrl title=title tags=tags visits="},
	{"Shlink", "Standard CSV of shlink-importer since 2.1", "Long URL=originalUrl Tags=tags Domain=domain Short code=slug Title=title"},
	{"Shlink", "REST API v3, flattened",
		"shortCode=slug shortUrl= longUrl=originalUrl dateCreated=createdAt visitsSummary.total= tags=tags meta.validSince=startsAt " +
			"meta.validUntil=expiresAt meta.maxVisits=maxClicks domain=domain title=title crawlable= forwardQuery= hasRedirectRules="},
	{"Kutt", "API v2, GET /links, versions 2 and 3",
		"address=slug banned= created_at=createdAt id= link= password= target=originalUrl description=notes updated_at= visit_count= " +
			"expire_in=expiresAt domain=domain"},
	{"Kutt", "table links, version 3",
		"id= address=slug description=notes banned= banned_by_id= domain_id= password= expire_in=expiresAt target=originalUrl user_id= " +
			"visit_count= created_at=createdAt updated_at= uuid="},
	{"tiny.cc", "documentation of the import", "url=originalUrl short_id=slug note=notes"},
	{"tiny.cc", "documentation of the import", "url=originalUrl short_url=slug"},
	{"Shortline", "GET /api/urls/export",
		"id= slug=slug domain=domain shortUrl= originalUrl=originalUrl title=title userId= workspaceId= status=status " +
			"suspendedReason= clickCount= hasPassword= startsAt=startsAt expiresAt=expiresAt expiredUrl=expiredUrl " +
			"maxClicks=maxClicks redirectCode=redirectCode trackConversions=trackConversions stickiness=stickiness externalId=externalId " +
			"utmSource=utmSource utmMedium=utmMedium " +
			"utmCampaign=utmCampaign utmTerm=utmTerm utmContent=utmContent utmId=utmId utmSourcePlatform=utmSourcePlatform isABTesting= isAbTest= " +
			"isSmartRouting= defaultUrl=defaultUrl ogTitle=ogTitle ogDescription=ogDescription ogImage= ogImageUrl= " +
			"twitterCardType=twitterCardType notes=notes tags=tags createdAt=createdAt updatedAt="},
	{"a spreadsheet", "unknown names", "Foo= Bar="},
}

// split returns the columns of a layout and their fields. Names of columns may contain spaces, those of fields do not.
func split(layout string) (columns, fields []string) {
	for rest := layout; rest != ""; {
		name, after, _ := strings.Cut(rest, "=")
		field, next, _ := strings.Cut(after, " ")
		columns, fields, rest = append(columns, name), append(fields, field), next
	}
	return columns, fields
}

// Each column of the layouts is recognized, or left out on purpose.
func TestF3_columns_of_other_services_are_known(t *testing.T) {
	t.Parallel()
	for _, l := range layouts {
		columns, fields := split(l.columns)
		for i, got := range suggest(columns) {
			if got != fields[i] {
				t.Errorf("%s (%s): the column %q fills %q, want %q", l.product, l.source, columns[i], got, fields[i])
			}
		}
	}
}
