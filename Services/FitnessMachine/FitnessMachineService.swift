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
/// The generic parameter `Data` determines the kind of machine. Send the data of the machine about once per
/// second.
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
/// Range. The characteristic definitions published with Fitness Machine Service 1.0 specify 16 bits for a
/// resistance level. Machines and apps use the 16-bit format for resistance levels. Newer versions of the
/// GATT Specification Supplement define one byte for a resistance level. A central that follows a newer
/// version of the supplement misreads the fields after the resistance level. To support centrals that follow
/// a newer version of the supplement, omit the resistance level. The service encodes the pace of a treadmill
/// as one byte. Newer versions of the GATT Specification Supplement define two bytes for the pace. A central
/// that follows these newer versions misreads the pace.
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

    /// The characteristics for the supported ranges, in the order of the declared settings.
    ///
    /// For each declared setting with a range, the array contains one of the following characteristics:
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
    /// Send a status with ``notify(_:in:)-(FitnessMachineStatus,_)``. When a request from a central changes
    /// the machine, the service automatically sends the status.
    public let status: Characteristic<FitnessMachineStatus>?

    private let machine: ControlledMachine
    private let features: UInt32

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - data: Example data with all values that the machine measures. The service derives the Fitness
    ///     Machine Features from the values in the example data. The numbers in the example data have no
    ///     effect. The service never sends the example data. The service sends only the values that the
    ///     Fitness Machine Features declare.
    ///   - trainingStatus: The training status that centrals read before the first call to
    ///     ``update(to:in:)``. To omit the Training Status characteristic, pass `nil`.
    ///   - retainsUserData: Whether the machine retains user data. A machine that retains user data also has
    ///     a User Data service.
    ///   - security: The security required to subscribe to the data and the status. The Fitness Machine
    ///     Service specification requires no security. Some apps for machines from many manufacturers assume
    ///     that a subscription requires no security.
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

    /// Returns the characteristic for one supported range.
    ///
    /// The UUID `type` identifies the characteristic, for example `.supportedPowerRange`. The method returns
    /// `nil` if the service does not declare the range.
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
    /// Features declare the values in the example data that the program passes to the initializer.
    ///
    /// The maximum length of a notification can be different for each subscribed central. The method limits
    /// every notification to the smallest maximum length.
    ///
    /// Wait until the method returns before you call the method again. If two calls run at the same time,
    /// centrals can receive notifications of the second call between notifications of the first call.
    ///
    /// - Parameters:
    ///   - data: The current data of the machine.
    ///   - session: The session of a peripheral. The peripheral must declare the service.
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
    /// beginning of the text. Centrals can read the whole text from the Training Status characteristic. The
    /// Fitness Machine Service specification requires an interval of at least 10 seconds between two
    /// notifications with truncated texts.
    ///
    /// - Parameters:
    ///   - status: The new training status.
    ///   - session: The session of a peripheral. The peripheral must declare the service.
    /// - Throws: The errors that `session.notify` throws.
    public func update(to status: TrainingStatus, in session: PeripheralSession) async throws {
        try await machine.update(to: status, in: session)
    }

    /// Notifies the subscribed centrals of a user action, or of the progress of a spin-down.
    ///
    /// The method has no effect if centrals cannot control the machine.
    ///
    /// When a request from a central changes the machine, the service automatically sends the status. The
    /// service sends the status to all subscribed centrals, including the requesting central. The Fitness
    /// Machine Service specification does not require a notification to the requesting central.
    ///
    /// - Parameters:
    ///   - status: The new status of the machine.
    ///   - session: The session of a peripheral. The peripheral must declare the service.
    /// - Throws: The errors that `session.notify` throws.
    public func notify(_ status: FitnessMachineStatus, in session: PeripheralSession) async throws {
        try await machine.report(status, in: session)
    }

    /// Removes control from the central that controls the machine, and notifies this central.
    ///
    /// Call this method when the user takes control of the machine.
    ///
    /// - Parameter session: The session of a peripheral. The peripheral must declare the service.
    /// - Throws: The errors that `session.notify` throws.
    public func takeControl(in session: PeripheralSession) async throws {
        try await machine.takeControl(in: session)
    }
}
