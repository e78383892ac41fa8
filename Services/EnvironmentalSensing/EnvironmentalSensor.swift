public import PeripheralKit
internal import Synchronization

/// A sensor of an ``EnvironmentalSensingService``, with a characteristic and descriptors.
///
/// ```swift
/// let inside = EnvironmentalSensor(
///     .temperature, of: EnvironmentalMeasurement(application: .inside), which: .inside
/// )
/// let outside = EnvironmentalSensor(
///     .temperature, of: EnvironmentalMeasurement(application: .outside), which: .outside
/// )
/// ```
///
/// If several sensors of a service measure the same quantity, each sensor requires an
/// ``EnvironmentalMeasurement``. Sensors for the same quantity must have different
/// ``EnvironmentalMeasurement`` values.
///
/// By default, centrals can subscribe to the value of a sensor. The Environmental Sensing Service
/// specification requires at least one trigger for a sensor that sends notifications. To set a trigger, a
/// central must be bonded (Environmental Sensing Service 1.0, section 3.1.2.3.1). If centrals can set the
/// triggers of a sensor, the peripheral must declare a `pairing` method.
public struct EnvironmentalSensor: Sendable {
    /// The quantity that the sensor measures.
    public let quantity: EnvironmentalQuantity

    /// The characteristic that contains the value of the sensor.
    ///
    /// Centrals can read the value. Centrals can subscribe to the value if the sensor has a trigger. Use
    /// ``EnvironmentalSensingService/update(_:to:in:)`` to send a value.
    public let value: Characteristic<EnvironmentalValue>

    let state: SensorState
    /// Whether centrals can write a descriptor.
    let isConfigurable: Bool

    /// Declares a sensor.
    ///
    /// - Parameters:
    ///   - quantity: The quantity that the sensor measures.
    ///   - number: The initial value in the unit of the quantity, or `nil` if the value is unknown.
    ///   - measurement: The description of the measurement method. An ES Measurement descriptor contains the
    ///     description.
    ///   - triggers: The initial triggers, which determine when the service sends the value. The sensor
    ///     declares one ES Trigger Setting descriptor for each trigger. A sensor with more than 3 triggers is
    ///     invalid. If the sensor has several triggers, an ES Configuration descriptor contains the trigger
    ///     logic. If the sensor has no triggers, centrals cannot subscribe to the value.
    ///   - logic: The initial logic that combines several triggers.
    ///   - areTriggersSettable: Whether centrals can write the triggers and the trigger logic. To write a
    ///     trigger or the trigger logic, a central must be bonded.
    ///   - name: The human-readable name of the sensor. A User Description descriptor contains the name.
    ///   - onRename: Handles a sensor name that a central writes. If the handler throws an error, the service
    ///     rejects the name. Use `nil` if centrals cannot write the name.
    ///   - range: The valid range of the value, in the unit of the quantity. A Valid Range descriptor
    ///     contains the range.
    ///   - which: A description that distinguishes the sensor from other sensors. A Presentation Format
    ///     descriptor contains the description and the unit.
    ///   - security: The security required to read the value, to subscribe to the value, and to write the
    ///     descriptors. By default, any central can read the value. By default, only paired centrals can set
    ///     the triggers and the name.
    public init(
        _ quantity: EnvironmentalQuantity,
        initially number: Double? = nil,
        of measurement: EnvironmentalMeasurement? = nil,
        triggers: [EnvironmentalTrigger] = [.changed],
        logic: EnvironmentalTriggerLogic = .any,
        areTriggersSettable: Bool = false,
        name: String? = nil,
        onRename: (@Sendable (_ name: String) async throws -> Void)? = nil,
        range: ClosedRange<Double>? = nil,
        which: PresentationFormat.Description? = nil,
        security: AttributeSecurity = AttributeSecurity(write: .encrypted)
    ) {
        let state = SensorState(
            quantity,
            value: quantity.bytes(of: number),
            triggers: triggers,
            logic: logic,
            name: name ?? ""
        )
        self.quantity = quantity
        self.state = state
        isConfigurable = (areTriggersSettable && !triggers.isEmpty) || onRename != nil
        var properties: CharacteristicProperties = triggers.isEmpty ? .read : [.read, .notify]
        if onRename != nil { properties.insert(.writableAuxiliaries) }
        value = Characteristic(quantity.type, properties, security: security) {
            Read { EnvironmentalValue(bytes: state.value) }
            if let measurement {
                Descriptor(.environmentalSensingMeasurement, value: measurement, security: security)
            }
            for index in triggers.indices {
                if areTriggersSettable {
                    Descriptor<[UInt8]>(.environmentalSensingTriggerSetting, security: security) {
                        Read { state.trigger(index) }
                        Write { bytes, central in try state.setTrigger(index, bytes, central) }
                    }
                } else {
                    Descriptor<[UInt8]>(.environmentalSensingTriggerSetting, security: security) {
                        Read { state.trigger(index) }
                    }
                }
            }
            if triggers.count > 1 {
                Descriptor<[UInt8]>(.environmentalSensingConfiguration, security: security) {
                    Read { state.logic.gattBytes }
                    if areTriggersSettable { Write { bytes, central in try state.setLogic(bytes, central) } }
                }
            }
            if let onRename {
                Descriptor<String>(.characteristicUserDescription, security: security) {
                    Read { state.name }
                    Write { name, central in
                        try await onRename(name)
                        state.setName(name, central)
                    }
                }
            } else if let name {
                UserDescription(name)
            }
            if let range {
                Descriptor(
                    .validRange,
                    value: quantity.bytes(of: range.lowerBound) + quantity.bytes(of: range.upperBound)
                )
            }
            if let which { quantity.format(which) }
        }
    }
}

/// The value of a sensor, its settings, and the state of its last update.
final class SensorState: Sendable {
    private struct State {
        var value: [UInt8]
        var triggers: [EnvironmentalTrigger]
        var logic: EnvironmentalTriggerLogic
        var name: String
        var sentAt: Duration?
        var report: (@Sendable (DescriptorValueChange, Central) -> Void)?
        /// The changes that are not yet reported, because no session reports them.
        var unreported: [(DescriptorValueChange, Central)] = []
    }

    private let quantity: EnvironmentalQuantity
    private let state: Mutex<State>

    init(
        _ quantity: EnvironmentalQuantity,
        value: [UInt8],
        triggers: [EnvironmentalTrigger],
        logic: EnvironmentalTriggerLogic,
        name: String
    ) {
        self.quantity = quantity
        state = Mutex(State(value: value, triggers: triggers, logic: logic, name: name))
    }

    var value: [UInt8] { state.withLock(\.value) }
    var logic: EnvironmentalTriggerLogic { state.withLock(\.logic) }
    var name: String { state.withLock(\.name) }

    func trigger(_ index: Int) -> [UInt8] {
        state.withLock(\.triggers)[index].bytes(quantity)
    }

    func setTrigger(_ index: Int, _ bytes: [UInt8], _ central: Central) throws {
        let trigger = try EnvironmentalTrigger(bytes, quantity)
        change(.triggers, by: central) { $0.triggers[index] = trigger }
    }

    func setLogic(_ bytes: [UInt8], _ central: Central) throws {
        guard bytes.first ?? 0 <= 1 else { throw ATTError.environmentalSensingWriteRequestRejected }
        let logic = try EnvironmentalTriggerLogic(gattBytes: bytes)
        change(.configuration, by: central) { $0.logic = logic }
    }

    func setName(_ name: String, _ central: Central) {
        change(.userDescription, by: central) { $0.name = name }
    }

    /// Reports each change that a central makes, and the changes made before.
    func reportChanges(by report: @escaping @Sendable (DescriptorValueChange, Central) -> Void) {
        let unreported = state.withLock { state in
            state.report = report
            defer { state.unreported = [] }
            return state.unreported
        }
        for (change, central) in unreported { report(change, central) }
    }

    /// Stores the changes that centrals make until they can be reported.
    func keepChanges() {
        state.withLock { $0.report = nil }
    }

    private func change(
        _ what: DescriptorValueChange.Changes,
        by central: Central,
        _ apply: (inout State) -> Void
    ) {
        let change = DescriptorValueChange([.byClient, what], of: quantity.type)
        let report = state.withLock { state in
            apply(&state)
            // A new session soon reports the changes. Without a session, no central writes.
            if state.report == nil, state.unreported.count < 16 { state.unreported.append((change, central)) }
            return state.report
        }
        report?(change, central)
    }

    /// Stores a new value, and returns whether to send it.
    func update(to value: [UInt8], at now: Duration) -> Bool {
        let number = try? quantity.number(of: value)
        return state.withLock { state in
            let hasChanged = state.value != value
            state.value = value
            let elapsed = state.sentAt.map { now - $0 }
            let answers = state.triggers.compactMap {
                $0.isMet(by: number, hasChanged: hasChanged, elapsed: elapsed)
            }
            let isDue =
                state.logic == .any ? answers.contains(true) : !answers.isEmpty && !answers.contains(false)
            if isDue { state.sentAt = now }
            return isDue
        }
    }
}
