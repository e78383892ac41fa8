@_exported public import enum PeripheralImmediateAlert.AlertLevel
