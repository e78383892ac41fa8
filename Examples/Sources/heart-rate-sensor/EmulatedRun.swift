import ExampleSupport
import PeripheralEmulator
import PeripheralHeartRate
import PeripheralKit
import PeripheralTesting

/// Serves the sensor on an emulated Bluetooth stack, to a virtual central that shows its data.
func runEmulated(_ sensor: PulseSensor, _ options: RunOptions) async throws {
    Terminal.print("Starting an emulated bluetoothd on its own D-Bus. No radio is used.")
    try await withEmulatedBlueZ { bluez in
        try await options.run(sensor.peripheral, on: bluez.backend) { session in
            Terminal.print("sensor:  \(sensor.peripheral.name) is advertising.")
            // The battery level changes rarely, so the central waits longer than usual.
            let central = bluez.central(for: sensor.peripheral, patience: .seconds(60))
            defer {
                central.disconnect()
                Terminal.print("central: disconnected.")
            }
            try await withThrowingTaskGroup { group in
                group.addTask { try await sensor.sendMeasurements(over: session) }
                group.addTask { try await show(sensor, seenBy: central) }
                try await group.waitForAll()
            }
        }
    }
    Terminal.print("sensor:  the advertisement and the services are withdrawn.")
}

/// Acts as a heart rate app and prints each step, then shows the pulse until cancelled.
private func show(_ sensor: PulseSensor, seenBy central: some TestCentral) async throws {
    for advertisement in try await central.scan() {
        let payload = advertisement.payload
        let services = payload.services.map { "\($0)" }.joined(separator: ", ")
        Terminal.print(
            "central: found \(payload.localName ?? "a device"), with the services \(services)."
        )
    }
    try await central.connect()
    Terminal.print("central: connected, with an MTU of \(try await central.mtu) bytes.")

    if let location = sensor.heartRate.bodySensorLocation {
        Terminal.print("central: reads the body sensor location: \(try await central.read(location)).")
    }
    if let manufacturer = sensor.deviceInformation.manufacturerName,
        let model = sensor.deviceInformation.modelNumber
    {
        let device = "\(try await central.read(model)) by \(try await central.read(manufacturer))"
        Terminal.print("central: reads the device information: \(device).")
    }
    let battery = try await central.read(sensor.battery.level)
    Terminal.print("central: reads the battery level: \(battery).")

    try await central.subscribe(to: sensor.battery.level)
    try await central.subscribe(to: sensor.heartRate.measurement)
    Terminal.print("central: subscribed to heart rate and battery level.")

    try await plot(sensor, receivedBy: central, on: PulseDisplay(battery: battery))
}

/// Shows the received values, until cancelled.
private func plot(
    _ sensor: PulseSensor,
    receivedBy central: some TestCentral,
    on display: PulseDisplay
) async throws {
    try await withThrowingTaskGroup { group in
        group.addTask { try await display.animate() }
        group.addTask {
            for try await level in central.updates(of: sensor.battery.level) {
                await display.show(level)
            }
        }
        group.addTask {
            var hasReset = false
            for try await measurement in central.updates(of: sensor.heartRate.measurement) {
                await display.show(measurement)
                guard !hasReset, let energy = measurement.energyExpended, energy > 0,
                    let controlPoint = sensor.heartRate.controlPoint
                else { continue }
                try await central.write(controlPoint, .resetEnergyExpended)
                await display.show("central: wrote the control point to reset the energy.")
                hasReset = true
            }
        }
        try await group.waitForAll()
    }
}
