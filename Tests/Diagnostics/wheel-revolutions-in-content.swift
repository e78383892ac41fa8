// a service that is given onSetWheelRevolutions tells the wheel's revolutions
import PeripheralCyclingPower

let power = CyclingPowerService(measuring: .wheelRevolutions, location: .fixed(.hip))
