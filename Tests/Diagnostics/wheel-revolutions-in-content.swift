// pass onSetWheelRevolutions to the service to include the wheel's revolutions
import PeripheralCyclingPower

let power = CyclingPowerService(measuring: .wheelRevolutions, location: .fixed(.hip))
