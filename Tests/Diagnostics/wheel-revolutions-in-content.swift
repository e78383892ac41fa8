// to include wheel revolutions, pass onSetWheelRevolutions to the service
import PeripheralCyclingPower

let power = CyclingPowerService(measuring: .wheelRevolutions, location: .fixed(.hip))
