public import PeripheralKit

/// The Fitness Machine service, 0x1826, of the Fitness Machine Service specification 1.0, and 1.0.1 for the status of a
/// resistance level.
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
/// The type of the data tells the kind of machine: `IndoorBikeData` of `PeripheralIndoorBike`, `TreadmillData` of
/// `PeripheralTreadmill`, `CrossTrainerData` of `PeripheralCrossTrainer`, `RowerData` of `PeripheralRower`, `StepClimberData` of
/// `PeripheralStepClimber`, `StairClimberData` of `PeripheralStairClimber`. Send it about once a second.
///
/// Levels of resistance have two bytes with a sign, in the data and in the range, as in the definitions that came with 1.0, which
/// machines and apps keep to. A central that is built on a newer GATT Specification Supplement reads one byte in the data, and
/// misreads what follows: leave the level out for such, as the pace of a treadmill.
public struct FitnessMachineService<Data: FitnessMachineData>: GATTServiceDeclaration {
    /// The Fitness Machine Feature, 0x2ACC, which centrals read.
    public let feature: Characteristic<FitnessMachineFeature>

    /// The data of the machine, such as the Indoor Bike Data, 0x2AD2, which centrals subscribe to; sent by
    /// ``notify(_:in:)-(Data,_)``.
    public let data: Characteristic<Data>

    /// The Training Status, 0x2AD3, which centrals read and subscribe to; `nil` when it is not told.
    public let trainingStatus: Characteristic<TrainingStatus>?

    /// The ranges of what can be set: Supported Speed Range, 0x2AD4, Inclination Range, 0x2AD5, Resistance Level Range, 0x2AD6, Heart
    /// Rate Range, 0x2AD7, and Power Range, 0x2AD8, as far as these can be; in the order of the settings.
    public let ranges: [Characteristic<SupportedRange>]

    /// The Fitness Machine Control Point, 0x2AD9; `nil` when centrals cannot control the machine.
    public let controlPoint: Characteristic<FitnessMachineResponse>?

    /// The Fitness Machine Status, 0x2ADA, which centrals subscribe to; sent by ``notify(_:in:)-(FitnessMachineStatus,_)``, and
    /// by the service itself; `nil` when centrals cannot control the machine.
    public let status: Characteristic<FitnessMachineStatus>?

    private let machine: ControlledMachine
    private let features: UInt32

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - data: Data with all that the machine measures, whatever the numbers: the Fitness Machine Features follow from it,
    ///     and what they do not tell of is not sent.
    ///   - trainingStatus: What centrals read until the first ``update(to:in:)``; `nil` when it is not told.
    ///   - retainsUserData: Whether the data of the user is retained; such a machine has a User Data service as well.
    ///   - security: What it takes to subscribe to the data and to the status. The specification demands nothing, and apps that
    ///     train with machines of many makers expect nothing.
    ///   - control: What centrals can control, and what carries it out; `nil` for nothing.
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

    /// The characteristic that tells a range, such as `.supportedPowerRange`; `nil` when there is none.
    public func range(_ type: BluetoothUUID) -> Characteristic<SupportedRange>? {
        ranges.first { $0.uuid == type }
    }

    /// The service's data in advertisements: whether the machine can be used, and what it is (section 3.1).
    ///
    /// ```swift
    /// Advertisement(serviceData: [.fitnessMachine: bike.advertisedData()])
    /// ```
    ///
    /// - Parameter isAvailable: Whether the machine can be used now.
    /// - Returns: 3 bytes: flags and type of machine.
    public func advertisedData(isAvailable: Bool = true) -> [UInt8] {
        [isAvailable ? 0x01 : 0x00] + Data.machine.advertisedBit.gattBytes
    }

    /// Sends data to the centrals that have subscribed, in as many notifications as it takes.
    ///
    /// What the Fitness Machine Features do not tell of, because it was not among the data that the service was declared with, is
    /// left out. The central with the least room decides. Send one after the other: the notifications of two calls at a time mix.
    ///
    /// - Parameters:
    ///   - data: What the machine measures.
    ///   - session: The session of the peripheral that declares the service.
    /// - Throws: As `session.notify` does.
    public func notify(_ data: Data, in session: PeripheralSession) async throws {
        guard let room = try session.subscribers(of: self.data).room else { return }
        for part in data.parts(upTo: room, telling: features) { try await session.notify(self.data, part) }
    }

    /// Changes the training status, and notifies the centrals that have subscribed; without effect where it is not told.
    ///
    /// A text that does not fit the notification is shortened there; centrals read all of it. The specification asks for 10
    /// seconds at least between such texts. Nothing is sent when the status is the old one.
    ///
    /// - Parameters:
    ///   - status: The new status.
    ///   - session: The session of the peripheral that declares the service.
    /// - Throws: As `session.notify` does.
    public func update(to status: TrainingStatus, in session: PeripheralSession) async throws {
        try await machine.update(to: status, in: session)
    }

    /// Tells the centrals that have subscribed what the user has done at the machine, or how a spin down goes; without effect
    /// when centrals cannot control the machine.
    ///
    /// What a central does by the control point is told by the service: to the others, as the specification has it, and to this
    /// one when it has subscribed.
    ///
    /// - Parameters:
    ///   - status: What has become of the machine.
    ///   - session: The session of the peripheral that declares the service.
    /// - Throws: As `session.notify` does.
    public func notify(_ status: FitnessMachineStatus, in session: PeripheralSession) async throws {
        try await machine.tell(status, in: session)
    }

    /// Takes the control of the central that has it, and tells it so: the user wants it.
    ///
    /// - Parameter session: The session of the peripheral that declares the service.
    /// - Throws: As `session.notify` does.
    public func takeControl(in session: PeripheralSession) async throws {
        try await machine.takeControl(in: session)
    }
}
