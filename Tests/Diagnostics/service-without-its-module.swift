// cannot find 'HeartRateService' in scope
import PeripheralBlueZ

let heartRate = HeartRateService()
