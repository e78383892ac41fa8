import PeripheralBloodPressure
import PeripheralKit

enum BloodPressureStandIns {
    protocol Cuff: Sendable {
        var results: AsyncStream<(systolic: MedicalShortFloat, diastolic: MedicalShortFloat)> { get }
    }

    static var cuff: any Cuff { fatalError() }
}
