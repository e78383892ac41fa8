public import PeripheralKit
internal import Synchronization

/// The value of an input or output, its triggers, and what of it was sent.
final class InputState: Sendable {
    private struct State {
        var value: [UInt8]
        var sent: [UInt8]
        var sentAt: Duration?
        var changes = 0
        var valueTrigger = AutomationValueTrigger.changed
        var timeTrigger = AutomationTimeTrigger.none
    }

    private let state: Mutex<State>
    private let isAnalog: Bool

    init(_ value: [UInt8], isAnalog: Bool) {
        state = Mutex(State(value: value, sent: value))
        self.isAnalog = isAnalog
    }

    var value: [UInt8] { state.withLock(\.value) }
    var valueTrigger: AutomationValueTrigger { state.withLock(\.valueTrigger) }
    var timeTrigger: AutomationTimeTrigger { state.withLock(\.timeTrigger) }

    func set(_ trigger: AutomationValueTrigger) throws(ATTError) {
        guard trigger.isPossible(isAnalog: isAnalog) else { throw .automationConditionNotSupported }
        state.withLock { state in
            state.valueTrigger = trigger
            state.changes = 0
        }
    }

    func set(_ trigger: AutomationTimeTrigger) {
        state.withLock { state in
            state.timeTrigger = trigger
            state.changes = 0
        }
    }

    /// Keeps a new value without sending it.
    func keep(_ value: [UInt8]) {
        state.withLock { $0.value = value }
    }

    /// Takes a new value, and tells whether it has changed, and whether it is to be sent.
    func update(to value: [UInt8], at now: Duration) -> (hasChanged: Bool, isDue: Bool) {
        state.withLock { state in
            let hasChanged = state.value != value
            if state.valueTrigger.isMet(by: value, after: state.value, sent: state.sent) {
                state.changes += 1
            }
            state.value = value
            let isDue =
                switch state.timeTrigger {
                case .none: state.changes > 0
                case .every(let seconds): Self.isOver(seconds, since: state.sentAt, now)
                case .atMostEvery(let seconds):
                    state.changes > 0 && Self.isOver(seconds, since: state.sentAt, now)
                case .everyChanges(let count): state.changes >= max(1, Int(count))
                }
            if isDue {
                state.sent = value
                state.sentAt = now
                state.changes = 0
            }
            return (hasChanged, isDue)
        }
    }

    private static func isOver(_ seconds: UInt32, since start: Duration?, _ now: Duration) -> Bool {
        guard let start else { return true }
        return now - start >= .seconds(Int64(seconds))
    }
}

extension AutomationValueTrigger {
    /// Whether an input of this kind has such a trigger.
    fileprivate func isPossible(isAnalog: Bool) -> Bool {
        switch self {
        case .changed, .never: true
        case .changesAny: !isAnalog
        case .crosses, .reaches, .changesByMoreThan, .crossesBounds, .reachesBounds: isAnalog
        }
    }

    fileprivate func isMet(by value: [UInt8], after previous: [UInt8], sent: [UInt8]) -> Bool {
        let (new, old) = (value.analog, previous.analog)
        switch self {
        case .changed:
            return value != previous
        case .never:
            return false
        case .changesAny(let mask):
            return zip(zip(value, previous), mask).contains { ($0.0 ^ $0.1) & $1 != 0 }
        case .crosses(let bound):
            return new != old && (old < bound && new >= bound || old > bound && new <= bound)
        case .reaches(let bound):
            return new != old && new == bound
        case .changesByMoreThan(let difference):
            return (new > sent.analog ? new - sent.analog : sent.analog - new) > difference
        case .crossesBounds(let lower, let upper):
            return (lower <= new && new <= upper) != (lower <= old && old <= upper)
        case .reachesBounds(let lower, let upper):
            return new != old && (new == lower || new == upper)
        }
    }
}

extension [UInt8] {
    /// The value of an analog input.
    fileprivate var analog: UInt16 { (try? UInt16(gattBytes: self)) ?? 0 }
}

extension ATTError {
    /// The answer to a trigger that the input does not have: the application error 0x80, Trigger Condition Value not
    /// supported, of the Automation IO Service specification 1.0.
    public static let automationConditionNotSupported = ATTError(rawValue: 0x80)
}
