public import PeripheralKit
internal import Synchronization

/// The value, the triggers and the last update of an input or output.
final class InputState: Sendable {
    private struct State {
        var value: [UInt8]
        /// The value at the last change that counted.
        var reference: [UInt8]
        /// The side of the trigger's bounds on which the value last was.
        var side: AutomationValueTrigger.Side?
        var isAggregated = false
        var sentAt: Duration?
        var changes = 0
        var valueTrigger = AutomationValueTrigger.changed
        var timeTrigger = AutomationTimeTrigger.none
    }

    private let state: Mutex<State>
    private let isAnalog: Bool

    init(_ value: [UInt8], isAnalog: Bool) {
        state = Mutex(State(value: value, reference: value))
        self.isAnalog = isAnalog
    }

    var value: [UInt8] { state.withLock(\.value) }
    var valueTrigger: AutomationValueTrigger { state.withLock(\.valueTrigger) }
    var timeTrigger: AutomationTimeTrigger { state.withLock(\.timeTrigger) }
    /// Whether an aggregate sends the value instead of the input.
    var isAggregated: Bool { state.withLock(\.isAggregated) }

    func becomeAggregated() {
        state.withLock { $0.isAggregated = true }
    }

    func set(_ trigger: AutomationValueTrigger) throws(ATTError) {
        guard trigger.isPossible(isAnalog: isAnalog) else { throw .automationConditionNotSupported }
        state.withLock { state in
            state.valueTrigger = trigger
            state.reference = state.value
            state.side = trigger.side(of: state.value)
            state.changes = 0
        }
    }

    func set(_ trigger: AutomationTimeTrigger) {
        state.withLock { state in
            state.timeTrigger = trigger
            state.changes = 0
        }
    }

    /// Stores a new value without sending it.
    func keep(_ value: [UInt8]) {
        state.withLock { $0.value = value }
    }

    /// Stores a new value, and returns whether to send it.
    func update(to value: [UInt8], at now: Duration) -> Bool {
        state.withLock { state in
            let side = state.valueTrigger.side(of: value) ?? state.side
            let isMet =
                state.valueTrigger.isMet(from: state.side, to: side)
                ?? state.valueTrigger.isMet(by: value, after: state.value, reference: state.reference)
            if isMet {
                state.changes += 1
                state.reference = value
            }
            state.side = side
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
                state.sentAt = now
                state.changes = 0
            }
            return isDue
        }
    }

    private static func isOver(_ seconds: UInt32, since start: Duration?, _ now: Duration) -> Bool {
        guard let start else { return true }
        return now - start >= .seconds(Int64(seconds))
    }
}

extension AutomationValueTrigger {
    /// The position of a value that is not equal to a bound.
    fileprivate enum Side {
        case below, between, above
    }

    /// Whether an input of this kind supports the trigger.
    fileprivate func isPossible(isAnalog: Bool) -> Bool {
        switch self {
        case .changed, .never: true
        case .changesAny: !isAnalog
        case .crosses, .reachesOrLeaves, .changesByMoreThan, .leavesBounds, .leavesEither: isAnalog
        }
    }

    /// The side of the bounds on which a value is.
    ///
    /// `nil` when the value is equal to a bound, and for triggers without sides.
    fileprivate func side(of bytes: [UInt8]) -> Side? {
        let (value, first, second): (UInt16, UInt16, UInt16)
        switch self {
        case .crosses(let bound): (value, first, second) = (bytes.analog, bound, bound)
        case .leavesBounds(let upper, let lower): (value, first, second) = (bytes.analog, upper, lower)
        default: return nil
        }
        if value < min(first, second) { return .below }
        if value > max(first, second) { return .above }
        return value == first || value == second ? nil : .between
    }

    /// Whether the change of side counts; `nil` for triggers without sides.
    fileprivate func isMet(from old: Side?, to new: Side?) -> Bool? {
        switch self {
        case .crosses: old != nil && new != old
        case .leavesBounds: old == .between && new != old
        default: nil
        }
    }

    fileprivate func isMet(by value: [UInt8], after previous: [UInt8], reference: [UInt8]) -> Bool {
        let (new, old) = (value.analog, previous.analog)
        switch self {
        case .changed:
            return value != previous
        case .changesAny(let mask):
            return zip(zip(value, previous), mask).contains { ($0.0 ^ $0.1) & $1 != 0 }
        case .reachesOrLeaves(let bound):
            return (new == bound) != (old == bound)
        case .changesByMoreThan(let difference):
            let from = reference.analog
            return (new > from ? new - from : from - new) > difference
        case .leavesEither(let one, let other):
            return new != old && (old == one || old == other)
        case .never, .crosses, .leavesBounds:
            return false
        }
    }
}

extension [UInt8] {
    /// The value of an analog input.
    fileprivate var analog: UInt16 { (try? UInt16(gattBytes: self)) ?? 0 }
}

extension ATTError {
    /// The error for a trigger that an input does not support.
    ///
    /// The Automation IO Service specification 1.0 defines the application error 0x80 as "Trigger Condition
    /// Value not supported".
    public static let automationConditionNotSupported = ATTError(rawValue: 0x80)
}
