"""What electricity costs: the supplier's API, and the tools over it. Nobody writes code for them."""

from toolgen.dsl import (
    GET,
    HTTP,
    APIKeySecurity,
    Args,
    ArrayOf,
    Attribute,
    BindTo,
    BoundedResult,
    Enum,
    Error,
    Example,
    Float,
    Int,
    Method,
    Paging,
    Param,
    Payload,
    Response,
    Result,
    Return,
    Security,
    Server,
    Service,
    String,
    Tool,
    Toolset,
    Type,
)

Region = Enum("Region", "A price area of the grid.", "DK1", "DK2", "SE3")

Tariff = Type(
    "Tariff",
    "What a supplier sells.",
    Attribute("id", String, "Stable identifier.", required=True),
    Attribute("name", String, "Name shown to people.", required=True),
    Attribute("monthlyFee", Float, "Kroner a month, used or not.", required=True),
    Attribute("region", Region, "Where it is sold.", required=True),
)

UnknownTariff = Type(
    "UnknownTariff",
    "What the supplier says of a tariff that is not there.",
    Attribute("tariff", String, "Tariff that was asked for.", required=True),
    Attribute("known", ArrayOf(String), "Tariffs that are there.", required=True),
)

tariff_service = Service(
    "TariffService",
    "Tariffs and prices of an electricity supplier, by its API.",
    Server("https://api.nordlys.example/v1"),
    Security(APIKeySecurity("supplier_key", "Key of a customer of the supplier.", header="X-Api-Key")),
    Method(
        "list_tariffs",
        "List what the supplier sells, by name.",
        Payload(
            Attribute("region", Region, "Keep the tariffs of this region."),
            Attribute("limit", Int, "Most tariffs of a page.", minimum=1, maximum=50, default=10),
            Attribute("cursor", String, "Where the last page ended."),
        ),
        Result(
            Attribute("tariffs", ArrayOf(Tariff), "Tariffs, by name.", required=True),
            Attribute("count", Int, "Tariffs on all pages.", required=True),
            Attribute("next", String, "Where this page ended; absent on the last one."),
        ),
        HTTP(
            GET("/tariffs"),
            Param("limit", "pageSize"),
            Param("cursor", "after"),
            Response(200),
            Paging(cursor="cursor", next="next"),
        ),
    ),
    Method(
        "get_prices",
        "Read what a kilowatt-hour costs.",
        Payload(Attribute("id", String, "Tariff to read.", required=True)),
        Result(
            Attribute("currency", String, "ISO 4217 code.", required=True),
            Attribute("day", Float, "Price from 6 to 22 o'clock.", required=True),
            Attribute("night", Float, "Price at night.", required=True),
        ),
        Error("unknown_tariff", UnknownTariff, "The supplier has no such tariff."),
        HTTP(GET("/tariffs/{id}/prices"), Response(200), Response(404, "unknown_tariff")),
    ),
)

tariffs = Toolset(
    "tariffs",
    "What electricity costs, from the supplier.",
    Tool(
        "list_tariffs",
        "List the tariffs of the electricity supplier, by name, page by page.",
        Return(
            Attribute("tariffs", ArrayOf(Tariff), "Tariffs, by name.", required=True),
            Attribute("next", String, "Cursor of the next page; absent on the last one."),
        ),
        BoundedResult(cursor="cursor", next_cursor="next"),
        BindTo("TariffService", "list_tariffs", rename={"count": "total"}),
        Example({"region": "DK2", "limit": 5}),
    ),
    Tool(
        "get_prices",
        "Read what a kilowatt-hour costs in a tariff; list_tariffs names them.",
        Args(Attribute("tariff", String, "Id of the tariff.", required=True)),
        BindTo("TariffService", "get_prices", rename={"id": "tariff"}),
        Example({"tariff": "spot"}),
    ),
)
