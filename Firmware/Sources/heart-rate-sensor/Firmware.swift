import FirmwareSupport
import PeripheralKit

/// The heart rate sensor as firmware.
@main
struct Firmware {
    static func main() {
        Device.start("heart-rate-sensor") { device in
            let sensor = PulseSensor(name: device.name(default: "Pulse"))
            let interval = try device.configuration.milliseconds("INTERVAL_MILLISECONDS")
            try await device.run(sensor.peripheral) { session in
                try await sensor.sendMeasurements(over: session, every: interval ?? .seconds(1))
            }
        }
    }
}
