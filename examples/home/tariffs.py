"""What electricity costs: the supplier's API, and the tools over it. Nobody writes code for them."""

from toolgen import dsl as d
from toolgen.dsl import http

Region = d.Enum("Region", "A price area of the grid.", "DK1", "DK2", "SE3")

Tariff = d.Type(
    "Tariff",
    "What a supplier sells.",
    d.Attribute("id", d.String, "Stable identifier.", required=True),
    d.Attribute("name", d.String, "Name shown to people.", required=True),
    d.Attribute("monthlyFee", d.Float, "Kroner a month, used or not.", required=True),
    d.Attribute("region", Region, "Where it is sold.", required=True),
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
        "List what the supplier sells, by name.",
        d.Payload(
            d.Attribute("region", Region, "Keep the tariffs of this region."),
            d.Attribute("limit", d.Int, "Most tariffs of a page.", minimum=1, maximum=50, default=10),
            d.Attribute("cursor", d.String, "Where the last page ended."),
        ),
        d.Result(
            d.Attribute("tariffs", d.ArrayOf(Tariff), "Tariffs, by name.", required=True),
            d.Attribute("count", d.Int, "Tariffs on all pages.", required=True),
            d.Attribute("next", d.String, "Where this page ended; absent on the last one."),
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
        "Read what a kilowatt-hour costs.",
        d.Payload(d.Attribute("id", d.String, "Tariff to read.", required=True)),
        d.Result(
            d.Attribute("currency", d.String, "ISO 4217 code.", required=True),
            d.Attribute("day", d.Float, "Price from 6 to 22 o'clock.", required=True),
            d.Attribute("night", d.Float, "Price at night.", required=True),
        ),
        d.Error("unknown_tariff", UnknownTariff, "The supplier has no such tariff."),
        http.HTTP(http.GET("/tariffs/{id}/prices"), http.Response(200), http.Response(404, "unknown_tariff")),
    ),
)

tariffs = d.Toolset(
    "tariffs",
    "What electricity costs, from the supplier.",
    d.Tool(
        "list_tariffs",
        "List the tariffs of the electricity supplier, by name, page by page.",
        d.Return(
            d.Attribute("tariffs", d.ArrayOf(Tariff), "Tariffs, by name.", required=True),
            d.Attribute("next", d.String, "Cursor of the next page; absent on the last one."),
        ),
        d.BoundedResult(cursor="cursor", next_cursor="next"),
        d.BindTo("TariffService", "list_tariffs", rename={"count": "total"}),
        d.Example({"region": "DK2", "limit": 5}),
    ),
    d.Tool(
        "get_prices",
        "Read what a kilowatt-hour costs in a tariff; list_tariffs names them.",
        d.Args(d.Attribute("tariff", d.String, "Id of the tariff.", required=True)),
        d.BindTo("TariffService", "get_prices", rename={"id": "tariff"}),
        d.Example({"tariff": "spot"}),
    ),
)
