// A session with the client that oapi-codegen generates.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"github.com/shortline/shortline/test/clients/api"
)

func main() {
	if err := session(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func session(ctx context.Context) error {
	token := ""
	client, err := api.NewClientWithResponses(os.Getenv("BASE_URL"),
		api.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
			if token != "" {
				r.Header.Set("Authorization", "Bearer "+token)
			}
			return nil
		}))
	if err != nil {
		return err
	}
	login, err := client.LoginWithResponse(ctx, nil, api.LoginInBody{Email: "admin@example.com", Password: os.Getenv("ADMIN_PASSWORD")})
	if err != nil || login.JSON200 == nil || login.JSON200.AccessToken == nil {
		return fmt.Errorf("login: %v: %s", err, login.Body)
	}
	token = *login.JSON200.AccessToken

	refused, err := client.CreateURLWithResponse(ctx, nil, api.CreateURL{OriginalUrl: "mailto:x"})
	if err != nil || refused.JSON400 == nil || (*refused.JSON400.Errors)[0].Field != "originalUrl" {
		return fmt.Errorf("a bad destination: %v: %s", err, refused.Body)
	}
	code := api.CreateURLRedirectCodeN301
	created, err := client.CreateURLWithResponse(ctx, nil, api.CreateURL{OriginalUrl: "https://example.com/", RedirectCode: &code})
	if err != nil || created.JSON201 == nil {
		return fmt.Errorf("create a link: %v: %s", err, created.Body)
	}
	link := *created.JSON201
	if link.ExpiresAt != nil || link.CreatedAt.IsZero() || link.OriginalUrl != "https://example.com/" {
		return fmt.Errorf("the link is %+v", link)
	}

	var value api.CountryCondition_Value
	var condition api.Condition
	var member api.OperatorGroup_Conditions_Item
	var group api.ConditionGroup
	err = value.FromCountryConditionValue1([]string{"DE", "AT"})
	if err == nil {
		err = condition.FromCountryCondition(api.CountryCondition{Type: "country", Operator: "in", Value: value})
	}
	if err == nil {
		err = member.FromCondition(condition)
	}
	if err == nil {
		err = group.FromOperatorGroup(api.OperatorGroup{Operator: "AND", Conditions: []api.OperatorGroup_Conditions_Item{member}})
	}
	if err != nil {
		return err
	}
	german := api.CreateRule{Name: "German", TargetUrl: "https://example.com/de", Conditions: group}
	rule, err := client.CreateRoutingRuleWithResponse(ctx, link.Id, nil, german)
	if err != nil || rule.JSON201 == nil {
		return fmt.Errorf("create a rule: %v: %s", err, rule.Body)
	}
	list, err := client.ListURLsWithResponse(ctx, nil)
	if err != nil || list.JSON200 == nil || list.JSON200.Total != 1 || list.JSON200.Data[0].Slug != link.Slug {
		return fmt.Errorf("list links: %v: %s", err, list.Body)
	}
	overview, err := client.OverviewWithResponse(ctx, nil)
	if err != nil || overview.JSON200 == nil || overview.JSON200.TotalUrls != 1 {
		return fmt.Errorf("overview: %v: %s", err, overview.Body)
	}
	deleted, err := client.DeleteURLWithResponse(ctx, link.Id, nil)
	if err != nil || deleted.StatusCode() != http.StatusNoContent {
		return fmt.Errorf("delete the link: %v: %s", err, deleted.Body)
	}
	return nil
}
