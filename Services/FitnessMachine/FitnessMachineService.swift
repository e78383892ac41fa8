public import PeripheralKit

/// The Fitness Machine service, 0x1826.
///
/// The service implements the Fitness Machine Service specification 1.0. The encoding of a resistance level
/// in the Fitness Machine Status follows version 1.0.1 of the specification.
///
/// ```swift
/// import PeripheralBlueZ
/// import PeripheralFitnessMachine
/// import PeripheralIndoorBike
/// import PeripheralKit
///
/// let start = IndoorBikeData(kilometersPerHour: 0, rpm: 0, watts: 0)
/// let control = FitnessMachineControl([.targetPower(watts: 0...400)]) { request, _ in
///     if case .targetPower(let watts) = request { await brake.hold(watts) }
/// }
/// let bike = FitnessMachineService(reporting: start, control: control)
/// let peripheral = Peripheral("Bike", pairing: .justWorks) { bike }
/// try await peripheral.run(on: .bluez) { session in
///     for await ride in rider.seconds { try await bike.notify(ride, in: session) }
/// }
/// ```
///
/// The generic parameter `Data` determines the kind of machine. Send the data about once per second.
///
/// | Data | Product |
/// |---|---|
/// | `IndoorBikeData` | `PeripheralIndoorBike` |
/// | `TreadmillData` | `PeripheralTreadmill` |
/// | `CrossTrainerData` | `PeripheralCrossTrainer` |
/// | `RowerData` | `PeripheralRower` |
/// | `StepClimberData` | `PeripheralStepClimber` |
/// | `StairClimberData` | `PeripheralStairClimber` |
///
/// A resistance level is a signed 16-bit integer in the machine's data and in the Supported Resistance Level
/// Range. The definitions published with Fitness Machine Service 1.0 specify the 16-bit format. Machines and
/// apps use the 16-bit format. A central that follows a newer GATT Specification Supplement expects a
/// one-byte resistance level and misreads the fields after the resistance level. To support centrals that
/// follow a newer supplement, omit the resistance level. Centrals that follow a newer supplement also misread
/// the pace of a treadmill.
public struct FitnessMachineService<Data: FitnessMachineData>: GATTServiceDeclaration {
    /// The Fitness Machine Feature characteristic, 0x2ACC, which centrals read.
    public let feature: Characteristic<FitnessMachineFeature>

    /// The characteristic for the machine's data, such as Indoor Bike Data, 0x2AD2.
    ///
    /// Centrals subscribe to the machine's data. Send data with ``notify(_:in:)-(Data,_)``.
    public let data: Characteristic<Data>

    /// The Training Status characteristic, 0x2AD3, which centrals read and subscribe to.
    ///
    /// The property is `nil` if the service does not declare a training status.
    public let trainingStatus: Characteristic<TrainingStatus>?

    /// The characteristics for the supported ranges, in the order of the settings.
    ///
    /// The array contains each of the following characteristics only if the setting is declared:
    ///
    /// - the Supported Speed Range characteristic, 0x2AD4
    /// - the Supported Inclination Range characteristic, 0x2AD5
    /// - the Supported Resistance Level Range characteristic, 0x2AD6
    /// - the Supported Heart Rate Range characteristic, 0x2AD7
    /// - the Supported Power Range characteristic, 0x2AD8
    public let ranges: [Characteristic<SupportedRange>]

    /// The Fitness Machine Control Point characteristic, 0x2AD9.
    ///
    /// The property is `nil` if centrals cannot control the machine.
    public let controlPoint: Characteristic<FitnessMachineResponse>?

    /// The Fitness Machine Status characteristic, 0x2ADA, to which centrals subscribe.
    ///
    /// The property is `nil` if centrals cannot control the machine.
    ///
    /// Send a status with ``notify(_:in:)-(FitnessMachineStatus,_)``. The service automatically sends the
    /// status for changes that centrals request.
    public let status: Characteristic<FitnessMachineStatus>?

    private let machine: ControlledMachine
    private let features: UInt32

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - data: Example data with all values that the machine measures. The Fitness Machine Features declare
    ///     the values that the example data contains. The service does not use the numbers in the example
    ///     data, and does not send the example data. The service sends only the values that the Fitness
    ///     Machine Features declare.
    ///   - trainingStatus: The training status that centrals read before the first call to
    ///     ``update(to:in:)``. To omit the Training Status characteristic, pass `nil`.
    ///   - retainsUserData: Whether the machine retains user data. A machine that retains user data also has
    ///     a User Data service.
    ///   - security: The security required to subscribe to the data and the status. The Fitness
    ///     Machine Service specification requires no security. Some apps support machines from many
    ///     manufacturers. These apps expect that a central can subscribe without security.
    ///   - control: The settings that centrals can control, and the handler for control requests. If centrals
    ///     cannot control the machine, pass `nil`.
    public init(
        reporting data: Data,
        trainingStatus: TrainingStatus? = nil,
        retainsUserData: Bool = false,
        security: AttributeSecurity = .open,
        control: FitnessMachineControl? = nil
    ) {
        features = data.fields().features
        feature = Characteristic(
            .fitnessMachineFeature,
            value: FitnessMachineFeature(
                machine: features | (retainsUserData ? 1 << 16 : 0),
                targetSettings: control?.features ?? 0
            )
        )
        self.data = Characteristic(Data.machine.characteristic, .notify, security: security)
        let machine = ControlledMachine(
            trainingStatus: trainingStatus,
            hasControl: control != nil,
            security: security
        )
        self.machine = machine
        self.trainingStatus = machine.trainingStatus
        status = machine.status
        controlPoint = control.map { machine.controlPoint($0) }
        ranges = (control?.settings ?? []).compactMap { setting in
            setting.range.map { Characteristic($0.type, value: $0.value) }
        }
    }

    /// The GATT service that the peripheral publishes.
    public var service: GATTService {
        GATTService(.fitnessMachine) {
            feature
            data
            if let trainingStatus { trainingStatus }
            for range in ranges { range }
            if let controlPoint { controlPoint }
            if let status { status }
        }
    }

    /// Returns the supported range characteristic with the given UUID, such as `.supportedPowerRange`.
    ///
    /// The method returns `nil` if the service does not declare the range.
    public func range(_ type: BluetoothUUID) -> Characteristic<SupportedRange>? {
        ranges.first { $0.uuid == type }
    }

    /// Returns the service data for an advertisement.
    ///
    /// The service data contains the availability and the kind of the machine (Fitness Machine Service 1.0,
    /// section 3.1).
    ///
    /// ```swift
    /// Advertisement(serviceData: [.fitnessMachine: bike.advertisedData()])
    /// ```
    ///
    /// - Parameter isAvailable: Whether the machine is available for use.
    /// - Returns: The 3 bytes of the service data: the flags and the machine type.
    public func advertisedData(isAvailable: Bool = true) -> [UInt8] {
        [isAvailable ? 0x01 : 0x00] + Data.machine.advertisedBit.gattBytes
    }

    /// Sends the machine's data to the subscribed centrals, in one or more notifications.
    ///
    /// The method sends only the values that the Fitness Machine Features declare. The Fitness Machine
    /// Features declare only the values in the example data that you pass to the initializer.
    ///
    /// The maximum length of a notification can be different for each subscribed central. The method uses the
    /// smallest of these lengths for all centrals.
    ///
    /// Wait until the method returns before you call the method again. If two calls run at the same time,
    /// centrals receive the notifications of both calls in mixed order.
    ///
    /// - Parameters:
    ///   - data: The current data of the machine.
    ///   - session: The session of the peripheral that declares the service.
    /// - Throws: The errors that `session.notify` throws.
    public func notify(_ data: Data, in session: PeripheralSession) async throws {
        guard let room = try session.subscribers(of: self.data).room else { return }
        for part in data.parts(upTo: room, reporting: features) { try await session.notify(self.data, part) }
    }

    /// Changes the training status and notifies the subscribed centrals.
    ///
    /// The method has no effect if the service does not declare a training status. If the training status has
    /// not changed, the method sends no notification.
    ///
    /// If the text of a training status does not fit into a notification, the notification contains only the
    /// beginning of the text. Centrals can read the whole text from the characteristic. The specification
    /// requires at least 10 seconds between two status texts that do not fit into a notification.
    ///
    /// - Parameters:
    ///   - status: The new training status.
    ///   - session: The session of the peripheral that declares the service.
    /// - Throws: The errors that `session.notify` throws.
    public func update(to status: TrainingStatus, in session: PeripheralSession) async throws {
        try await machine.update(to: status, in: session)
    }

    /// Notifies the subscribed centrals of a user action, or of the progress of a spin-down.
    ///
    /// The method has no effect if centrals cannot control the machine.
    ///
    /// The service automatically sends the status for changes that a central requests through the control
    /// point. The service sends the status to all subscribed centrals, including the requesting central. The
    /// specification requires notifications only for subscribed centrals other than the requesting central.
    ///
    /// - Parameters:
    ///   - status: The new status of the machine.
    ///   - session: The session of the peripheral that declares the service.
    /// - Throws: The errors that `session.notify` throws.
    public func notify(_ status: FitnessMachineStatus, in session: PeripheralSession) async throws {
        try await machine.report(status, in: session)
    }

    /// Takes control away from the controlling central, and notifies that central.
    ///
    /// Call this method when the user takes control of the machine.
    ///
    /// - Parameter session: The session of the peripheral that declares the service.
    /// - Throws: The errors that `session.notify` throws.
    public func takeControl(in session: PeripheralSession) async throws {
        try await machine.takeControl(in: session)
    }
}
