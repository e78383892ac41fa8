public import PeripheralKit
internal import Synchronization

/// A sensor of an ``EnvironmentalSensingService``: a characteristic with its descriptors.
///
/// ```swift
/// let inside = EnvironmentalSensor(.temperature, of: EnvironmentalMeasurement(application: .inside), which: .inside)
/// let outside = EnvironmentalSensor(.temperature, of: EnvironmentalMeasurement(application: .outside), which: .outside)
/// ```
///
/// Several sensors of one quantity each need a measurement that says how they differ.
///
/// Unless it is told otherwise, a sensor is one that notifies, and the specification demands a trigger of such a one. Centrals
/// that may set it have to be bonded (section 3.1.2.3.1), so that the peripheral then says how they pair.
public struct EnvironmentalSensor: Sendable {
    /// What is measured.
    public let quantity: EnvironmentalQuantity

    /// The characteristic, which centrals read, and subscribe to where there is a trigger; sent by
    /// ``EnvironmentalSensingService/update(_:to:in:)``.
    public let value: Characteristic<EnvironmentalValue>

    let state: SensorState
    /// Whether centrals can write a descriptor.
    let isConfigurable: Bool

    /// Declares a sensor.
    ///
    /// - Parameters:
    ///   - quantity: What is measured.
    ///   - number: The value at first, in the quantity's unit; `nil` when it is not known.
    ///   - measurement: How it is measured; an ES Measurement descriptor.
    ///   - triggers: When values are sent, at first: at most 3, each an ES Trigger Setting descriptor; a declaration with more is
    ///     invalid. With several, an ES Configuration descriptor tells how they belong together. With none, centrals cannot
    ///     subscribe.
    ///   - logic: How several triggers belong together at first.
    ///   - areTriggersSettable: Whether centrals write triggers and their logic, which takes a bond.
    ///   - name: What it is, for people; a User Description descriptor.
    ///   - onRename: Takes the name that a central has written; `nil` when centrals cannot. Throwing refuses it.
    ///   - range: What values can be, in the quantity's unit; a Valid Range descriptor.
    ///   - which: Which of several alike it is; a presentation format, which also tells the unit.
    ///   - security: What it takes to read, to subscribe, and to write descriptors. By default anybody reads, and those who are
    ///     paired set triggers and the name.
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

/// The value of a sensor, its settings, and what of it was sent.
final class SensorState: Sendable {
    private struct State {
        var value: [UInt8]
        var triggers: [EnvironmentalTrigger]
        var logic: EnvironmentalTriggerLogic
        var name: String
        var sentAt: Duration?
        var report: (@Sendable (DescriptorValueChange, Central) -> Void)?
        /// What was changed before anybody is there to report it.
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

    /// Reports what centrals change, and what they have changed already.
    func reportChanges(by report: @escaping @Sendable (DescriptorValueChange, Central) -> Void) {
        let unreported = state.withLock { state in
            state.report = report
            defer { state.unreported = [] }
            return state.unreported
        }
        for (change, central) in unreported { report(change, central) }
    }

    /// Keeps what centrals change until it can be reported.
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
            // A session that begins reports soon; without one, nobody writes.
            if state.report == nil, state.unreported.count < 16 { state.unreported.append((change, central)) }
            return state.report
        }
        report?(change, central)
    }

    /// Takes a new value, and tells whether it is to be sent.
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
