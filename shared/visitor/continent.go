package visitor

import "strings"

// continents are the codes of continents; "" means unknown. A place refers to them by number.
var continents = [8]string{"", "AF", "AN", "AS", "EU", "NA", "OC", "SA"}

// countriesOf lists the countries (ISO 3166-1 alpha-2, and XK) of each of the continents. Countries in two continents
// are listed where geo databases put them.
var countriesOf = [len(continents)]string{
	1: "AO BF BI BJ BW CD CF CG CI CM CV DJ DZ EG EH ER ET GA GH GM GN GQ GW KE KM LR LS LY MA MG ML MR MU MW MZ NA NE NG RE RW SC SD SH " +
		"SL SN SO SS ST SZ TD TG TN TZ UG YT ZA ZM ZW",
	2: "AQ BV GS HM TF",
	3: "AE AF AM AZ BD BH BN BT CC CN GE HK ID IL IN IO IQ IR JO JP KG KH KP KR KW KZ LA LB LK MM MN MO MV MY NP OM PH PK PS QA SA SG SY " +
		"TH TJ TM TR TW UZ VN YE",
	4: "AD AL AT AX BA BE BG BY CH CY CZ DE DK EE ES FI FO FR GB GG GI GR HR HU IE IM IS IT JE LI LT LU LV MC MD ME MK MT NL NO PL PT RO " +
		"RS RU SE SI SJ SK SM UA VA XK",
	5: "AG AI AW BB BL BM BQ BS BZ CA CR CU CW DM DO GD GL GP GT HN HT JM KN KY LC MF MQ MS MX NI PA PM PR SV SX TC TT US VC VG VI",
	6: "AS AU CK CX FJ FM GU KI MH MP NC NF NR NU NZ PF PG PN PW SB TK TL TO TV UM VU WF WS",
	7: "AR BO BR CL CO EC FK GF GY PE PY SR UY VE",
}

// ContinentOf returns the continent of a country, or "" if it is unknown. Its time grows with the number of countries; it
// is not meant for each visit.
func ContinentOf(country string) string {
	country = strings.ToUpper(country)
	if len(country) != 2 {
		return ""
	}
	for i, all := range countriesOf {
		if strings.Contains(all, country) && strings.Index(all, country)%3 == 0 {
			return continents[i]
		}
	}
	return ""
}
