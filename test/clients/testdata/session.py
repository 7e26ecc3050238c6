"""A session with the client that openapi-python-client generates."""

import os

from shortline_client import AuthenticatedClient, Client
from shortline_client.api.account import login
from shortline_client.api.analytics import overview
from shortline_client.api.routing_rules import create_routing_rule
from shortline_client.api.ur_ls import create_url, delete_url, list_ur_ls
from shortline_client.models import (
    CountryCondition,
    CountryConditionOperator,
    CountryConditionType,
    CreateRule,
    CreateURL,
    LoginInBody,
    OperatorGroup,
    OperatorGroupOperator,
)
from shortline_client.models import CreateURLRedirectCodeType0 as RedirectCode

base = os.environ["BASE_URL"]
signed_in = login.sync(client=Client(base_url=base), body=LoginInBody(email="admin@example.com", password=os.environ["ADMIN_PASSWORD"]))
client = AuthenticatedClient(base_url=base, token=signed_in.access_token)

refused = create_url.sync_detailed(client=client, body=CreateURL(original_url="mailto:x"))
assert refused.status_code == 400 and refused.parsed.errors[0].field == "originalUrl", refused

link = create_url.sync(client=client, body=CreateURL(original_url="https://example.com/", redirect_code=RedirectCode.VALUE_301))
assert link.expires_at is None and link.created_at.year > 2000 and link.original_url == "https://example.com/", link

country = CountryCondition(type_=CountryConditionType.COUNTRY, operator=CountryConditionOperator.IN, value=["DE", "AT"])
conditions = OperatorGroup(operator=OperatorGroupOperator.AND, conditions=[country])
rule = create_routing_rule.sync_detailed(link.id, client=client, body=CreateRule(name="German", target_url="https://example.com/de", conditions=conditions))
assert rule.status_code == 201, rule

urls = list_ur_ls.sync(client=client)
assert urls.total == 1 and urls.data[0].slug == link.slug, urls

assert overview.sync(client=client).total_urls == 1

assert delete_url.sync_detailed(link.id, client=client).status_code == 204
