"""What electricity costs: the supplier's API, and the tools over it. Nobody writes code for them."""

from toolgen import dsl as d
from toolgen.dsl import http

Region = d.Enum("Region", "A price area of the grid.", "DK1", "DK2", "SE3")

Tariff = d.Type(
    "Tariff",
    "A tariff of a supplier.",
    d.Attribute("id", d.String, "Stable identifier.", required=True),
    d.Attribute("name", d.String, "Name shown to people.", required=True),
    d.Attribute("monthlyFee", d.Float, "Monthly fee in kroner.", required=True),
    d.Attribute("region", Region, "Region of the tariff.", required=True),
)

UnknownTariff = d.Type(
    "UnknownTariff",
    "What the supplier says of a tariff that is not there.",
    d.Attribute("tariff", d.String, "Tariff that was asked for.", required=True),
    d.Attribute("known", d.ArrayOf(d.String), "Tariffs that are there.", required=True),
)

tariff_service = d.Service(
    "TariffService",
    "Tariffs and prices of an electricity supplier, by its API.",
    http.Server("https://api.nordlys.example/v1"),
    http.Security(
        http.APIKeySecurity("supplier_key", "Key of a customer of the supplier.", header="X-Api-Key")
    ),
    d.Method(
        "list_tariffs",
        "List the tariffs, sorted by name.",
        d.Payload(
            d.Attribute("region", Region, "Only tariffs of this region."),
            d.Attribute(
                "limit", d.Int, "Maximum number of tariffs on a page.", minimum=1, maximum=50, default=10
            ),
            d.Attribute("cursor", d.String, "Cursor of the previous page."),
        ),
        d.Result(
            d.Attribute("tariffs", d.ArrayOf(Tariff), "Tariffs, by name.", required=True),
            d.Attribute("count", d.Int, "Tariffs on all pages.", required=True),
            d.Attribute("next", d.String, "Cursor of the next page; absent on the last page."),
        ),
        http.HTTP(
            http.GET("/tariffs"),
            http.Param("limit", "pageSize"),
            http.Param("cursor", "after"),
            http.Response(200),
            http.Paging(cursor="cursor", next="next"),
        ),
    ),
    d.Method(
        "get_prices",
        "Read the prices per kilowatt-hour.",
        d.Payload(d.Attribute("id", d.String, "ID of the tariff.", required=True)),
        d.Result(
            d.Attribute("currency", d.String, "ISO 4217 code.", required=True),
            d.Attribute("day", d.Float, "Price per kilowatt-hour from 6:00 to 22:00.", required=True),
            d.Attribute("night", d.Float, "Price per kilowatt-hour at night.", required=True),
        ),
        d.Error("unknown_tariff", UnknownTariff, "The supplier has no such tariff."),
        http.HTTP(http.GET("/tariffs/{id}/prices"), http.Response(200), http.Response(404, "unknown_tariff")),
    ),
)

tariffs = d.Toolset(
    "tariffs",
    "Electricity tariffs and prices of the supplier.",
    d.Tool(
        "list_tariffs",
        "List the tariffs of the electricity supplier. Returns one page, sorted by name.",
        d.Return(
            d.Attribute("tariffs", d.ArrayOf(Tariff), "Tariffs, by name.", required=True),
            d.Attribute("next", d.String, "Cursor of the next page; absent on the last page."),
        ),
        d.BoundedResult(cursor="cursor", next_cursor="next"),
        d.BindTo("TariffService", "list_tariffs", rename={"count": "total"}),
        d.Example({"region": "DK2", "limit": 5}),
    ),
    d.Tool(
        "get_prices",
        "Read the prices per kilowatt-hour of a tariff; list_tariffs returns the tariffs.",
        d.Args(d.Attribute("tariff", d.String, "ID of the tariff.", required=True)),
        d.BindTo("TariffService", "get_prices", rename={"id": "tariff"}),
        d.Example({"tariff": "spot"}),
    ),
)
