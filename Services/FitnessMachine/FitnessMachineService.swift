public import PeripheralKit

/// The Fitness Machine service, 0x1826.
///
/// The service implements the Fitness Machine Service specification 1.0. The status of a resistance level
/// follows version 1.0.1.
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
/// let bike = FitnessMachineService(telling: start, control: control)
/// let peripheral = Peripheral("Bike", pairing: .justWorks) { bike }
/// try await peripheral.run(on: .bluez) { session in
///     for await ride in rider.seconds { try await bike.notify(ride, in: session) }
/// }
/// ```
///
/// The type of the data determines the kind of machine. Send the data about once a second.
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
/// Resistance levels have two signed bytes in the data and in the range. The definitions published with
/// version 1.0 specify this format. Machines and apps use this format. A central that follows a newer GATT
/// Specification Supplement reads one byte in the data, and misreads the following fields. Omit the level for
/// such centrals. The same applies to the pace of a treadmill.
public struct FitnessMachineService<Data: FitnessMachineData>: GATTServiceDeclaration {
    /// The Fitness Machine Feature, 0x2ACC, which centrals read.
    public let feature: Characteristic<FitnessMachineFeature>

    /// The machine's data, such as Indoor Bike Data, 0x2AD2, which centrals subscribe to.
    ///
    /// Send data with ``notify(_:in:)-(Data,_)``.
    public let data: Characteristic<Data>

    /// The Training Status, 0x2AD3, which centrals read and subscribe to; `nil` when it is not declared.
    public let trainingStatus: Characteristic<TrainingStatus>?

    /// The supported ranges of the settings, in the order of the settings.
    ///
    /// Only the ranges of declared settings are included:
    ///
    /// - Supported Speed Range, 0x2AD4
    /// - Supported Inclination Range, 0x2AD5
    /// - Supported Resistance Level Range, 0x2AD6
    /// - Supported Heart Rate Range, 0x2AD7
    /// - Supported Power Range, 0x2AD8
    public let ranges: [Characteristic<SupportedRange>]

    /// The Fitness Machine Control Point, 0x2AD9; `nil` when centrals cannot control the machine.
    public let controlPoint: Characteristic<FitnessMachineResponse>?

    /// The Fitness Machine Status, 0x2ADA, which centrals subscribe to.
    ///
    /// The characteristic is `nil` when centrals cannot control the machine.
    ///
    /// Send a status with ``notify(_:in:)-(FitnessMachineStatus,_)``. The service also sends statuses
    /// automatically.
    public let status: Characteristic<FitnessMachineStatus>?

    private let machine: ControlledMachine
    private let features: UInt32

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - data: Data with all values that the machine measures. The numbers have no effect. The service
    ///     derives the Fitness Machine Features from the data. Values that the features do not include are
    ///     not sent.
    ///   - trainingStatus: The status that centrals read until the first ``update(to:in:)``; `nil` to omit
    ///     the characteristic.
    ///   - retainsUserData: Whether the machine retains the data of the user. Such a machine also has a User
    ///     Data service.
    ///   - security: The security required to subscribe to the data and the status. The specification demands
    ///     no security, and apps for machines of many manufacturers expect no security.
    ///   - control: The settings that centrals can control, and the handler of requests; `nil` when centrals
    ///     cannot control the machine.
    public init(
        telling data: Data,
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

    /// The service as it is published.
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

    /// Returns the characteristic of a range, such as `.supportedPowerRange`; `nil` when there is no such
    /// range.
    public func range(_ type: BluetoothUUID) -> Characteristic<SupportedRange>? {
        ranges.first { $0.uuid == type }
    }

    /// Returns the service's data for advertisements: the availability and the kind of the machine.
    ///
    /// Section 3.1 of the specification defines the data.
    ///
    /// ```swift
    /// Advertisement(serviceData: [.fitnessMachine: bike.advertisedData()])
    /// ```
    ///
    /// - Parameter isAvailable: Whether the machine can be used now.
    /// - Returns: 3 bytes: the flags and the machine type.
    public func advertisedData(isAvailable: Bool = true) -> [UInt8] {
        [isAvailable ? 0x01 : 0x00] + Data.machine.advertisedBit.gattBytes
    }

    /// Sends data to the subscribers, in as many notifications as needed.
    ///
    /// Values that the Fitness Machine Features do not include are not sent. The features include only the
    /// values in the data with which the service was declared. The subscriber with the smallest maximum
    /// length determines the length of the notifications. Do not make overlapping calls, because their
    /// notifications would mix.
    ///
    /// - Parameters:
    ///   - data: The measurements of the machine.
    ///   - session: The session of the peripheral that declares the service.
    /// - Throws: The errors of `session.notify`.
    public func notify(_ data: Data, in session: PeripheralSession) async throws {
        guard let room = try session.subscribers(of: self.data).room else { return }
        for part in data.parts(upTo: room, telling: features) { try await session.notify(self.data, part) }
    }

    /// Changes the training status and notifies the subscribers.
    ///
    /// The method has no effect if the training status is not declared. The method sends nothing if the
    /// status has not changed.
    ///
    /// If a text does not fit a notification, the notification contains the beginning of the text. Centrals
    /// can read the whole text. The specification requires at least 10 seconds between texts that do not fit.
    ///
    /// - Parameters:
    ///   - status: The new status.
    ///   - session: The session of the peripheral that declares the service.
    /// - Throws: The errors of `session.notify`.
    public func update(to status: TrainingStatus, in session: PeripheralSession) async throws {
        try await machine.update(to: status, in: session)
    }

    /// Notifies the subscribers of a user action, or of the progress of a spin down.
    ///
    /// The method has no effect if centrals cannot control the machine.
    ///
    /// The service automatically notifies changes that a central makes through the control point. The service
    /// notifies the other centrals, as the specification demands. The service also notifies the requesting
    /// central if that central has subscribed.
    ///
    /// - Parameters:
    ///   - status: The status of the machine.
    ///   - session: The session of the peripheral that declares the service.
    /// - Throws: The errors of `session.notify`.
    public func notify(_ status: FitnessMachineStatus, in session: PeripheralSession) async throws {
        try await machine.tell(status, in: session)
    }

    /// Takes control away from the controlling central, and notifies that central.
    ///
    /// Call this method when the user takes control of the machine.
    ///
    /// - Parameter session: The session of the peripheral that declares the service.
    /// - Throws: The errors of `session.notify`.
    public func takeControl(in session: PeripheralSession) async throws {
        try await machine.takeControl(in: session)
    }
}
