"""Two attributes that are one in Python."""

from toolgen.dsl import Attribute, Design, String, Type

Device = Type(
    "Device",
    "A device.",
    Attribute("serialNumber", String, "As the vendor writes it."),
    Attribute("serial_number", String, "As we write it."),
)

design = Design("home", "A home.", Device)
