public import PeripheralKit

/// The Record Access Control Point, 0x2A52, for the records that a device stores.
///
/// Centrals use the control point to request, count and delete records. Services such as Glucose contain the
/// control point. To add the control point to another service, create the characteristic:
///
/// ```swift
/// let access = RecordAccess(
///     records: { await store.all },
///     remove: { records in try await store.remove(records) },
///     filters: [.sequenceNumber { $0.number }],
///     reportedBy: measurement
/// ) { record, central, session in
///     try await session.notify(measurement, record.measurement, to: central)
/// }
/// let controlPoint = access.characteristic(security: .encrypted)
/// ```
///
/// Each central can run one operation at a time. A central can abort its own operation. After an abort, the
/// service does not send the remaining records. An abort always succeeds, even if no operation is in
/// progress.
///
/// If a request fails, the response reports one of these results (Glucose Service 1.0.1, section 3.4):
/// - ``RecordAccessResult/operationNotSupported``: The operation is unknown, or the control point has no
///   `remove` closure to delete records.
/// - ``RecordAccessResult/operatorNotSupported``: The operator requires a filter, but `filters` is empty. If
///   `hasEnds` is `false`, a request for the first or the last record has the result
///   ``RecordAccessResult/operatorNotSupported``.
/// - ``RecordAccessResult/operandNotSupported``: The request uses a filter that is not in `filters`.
/// - ``RecordAccessResult/invalidOperand``: The bounds are in the wrong order.
/// - ``RecordAccessResult/noRecordsFound``: No record matches the selection. If a central requests the number
///   of records and no record matches, the service responds with the number 0.
/// - ``RecordAccessResult/procedureNotCompleted``: The closure `records`, `remove` or `report` throws an
///   error.
///
/// The service sends records only to the central that requests the records. The Bluetooth stack cannot always
/// send values exclusively to one central (see `PeripheralSession.notify(_:_:to:fallback:)`). If the
/// Bluetooth stack would send a record to several centrals, the operation ends with
/// ``RecordAccessResult/procedureNotCompleted``. The Bluetooth stack cannot send values exclusively to one
/// central in these cases:
/// - The running version of BlueZ sends each value to all subscribers. The article "Limits of BlueZ by
///   version" in the documentation of `PeripheralBlueZ` lists the affected versions.
/// - A bonded central has reconnected, but has not subscribed again.
///
/// A central that is the only subscriber to the records always receives the records.
public struct RecordAccess<Record: Sendable>: Sendable {
    private let records: @Sendable () async throws -> [Record]
    private let remove: (@Sendable ([Record]) async throws -> Void)?
    private let filters: [RecordFilter<Record>]
    private let hasEnds: Bool
    private let isSubscribed: @Sendable (Central, PeripheralSession) throws -> Bool
    private let notSubscribed: ATTError
    private let busy: ATTError
    private let report: @Sendable (Record, Central, PeripheralSession) async throws -> Void

    /// Creates a control point for stored records.
    ///
    /// - Parameters:
    ///   - records: A closure that returns all stored records, with the oldest record first.
    ///   - remove: A closure that deletes records, or `nil` if centrals cannot delete records.
    ///   - filters: The filters by which centrals can select records.
    ///   - hasEnds: Whether centrals can request the first and the last record.
    ///   - measurement: The characteristic that sends the records. The service refuses a request from a
    ///     central that has not subscribed to the records.
    ///   - notSubscribed: The error for a central that lacks a subscription to the records or to the control
    ///     point.
    ///   - busy: The error for a request that arrives while another operation of the same central is in
    ///     progress.
    ///   - report: A closure that sends a record to a central.
    public init<Measurement>(
        records: @escaping @Sendable () async throws -> [Record],
        remove: (@Sendable (_ records: [Record]) async throws -> Void)? = nil,
        filters: [RecordFilter<Record>] = [],
        hasEnds: Bool = true,
        reportedBy measurement: Characteristic<Measurement>,
        errorWhenNotSubscribed notSubscribed: ATTError =
            .clientCharacteristicConfigurationImproperlyConfigured,
        errorWhenBusy busy: ATTError = .procedureAlreadyInProgress,
        report:
            @escaping @Sendable (
                _ record: Record, _ central: Central, _ session: PeripheralSession
            ) async throws -> Void
    ) {
        self.records = records
        self.remove = remove
        self.filters = filters
        self.hasEnds = hasEnds
        isSubscribed = { central, session in
            try session.subscribers(of: measurement).contains { $0.mayBe(of: central) }
        }
        self.notSubscribed = notSubscribed
        self.busy = busy
        self.report = report
    }

    /// Creates the characteristic.
    ///
    /// Store the characteristic in a constant, and declare the characteristic in only one service.
    ///
    /// - Parameter security: The security required to write to the control point, and to subscribe to the
    ///   control point.
    /// - Returns: The Record Access Control Point characteristic, 0x2A52.
    public func characteristic(security: AttributeSecurity) -> Characteristic<RecordAccessResponse> {
        Characteristic(.recordAccessControlPoint, [.write, .indicate], security: security) {
            ControlPoint(
                errorWhenNotSubscribed: notSubscribed,
                errorWhenBusy: busy,
                accept: { (_: RecordAccessRequest, central, session) in
                    guard try isSubscribed(central, session) else { throw notSubscribed }
                },
                isAbort: { $0 == .abort },
                perform: { request, central, session in
                    try await response(to: request, of: central, in: session)
                }
            )
        }
    }

    private func response(
        to request: RecordAccessRequest,
        of central: Central,
        in session: PeripheralSession
    ) async throws -> RecordAccessResponse {
        do {
            return try await carryOut(request, of: central, in: session)
        } catch let refusal as Refusal {
            return .result(refusal.result, of: request.operation)
        } catch {
            // After a cancellation, no central waits for a response.
            try Task.checkCancellation()
            return .result(.procedureNotCompleted, of: request.operation)
        }
    }

    private func carryOut(
        _ request: RecordAccessRequest,
        of central: Central,
        in session: PeripheralSession
    ) async throws -> RecordAccessResponse {
        switch request.operation {
        case .report:
            let select = try selection(of: request)
            let chosen = select(try await records())
            guard !chosen.isEmpty else { throw Refusal(.noRecordsFound) }
            for record in chosen {
                try Task.checkCancellation()
                try await report(record, central, session)
            }
        case .delete:
            guard let remove else { throw Refusal(.operationNotSupported) }
            let select = try selection(of: request)
            let chosen = select(try await records())
            guard !chosen.isEmpty else { throw Refusal(.noRecordsFound) }
            try await remove(chosen)
        case .reportNumber:
            let select = try selection(of: request)
            return .number(UInt16(clamping: select(try await records()).count))
        case .abort:
            guard request.operatorCode == RecordOperator.null else { throw Refusal(.invalidOperator) }
            guard request.operand.isEmpty else { throw Refusal(.invalidOperand) }
        default:
            throw Refusal(.operationNotSupported)
        }
        return .result(.success, of: request.operation)
    }

    /// Returns a function that selects the records of a request.
    private func selection(
        of request: RecordAccessRequest
    ) throws(Refusal) -> @Sendable ([Record]) -> [Record] {
        switch request.operatorCode {
        case RecordOperator.null:
            throw Refusal(.invalidOperator)
        case RecordOperator.all:
            try request.expectNoOperand()
            return { $0 }
        case RecordOperator.first where hasEnds:
            try request.expectNoOperand()
            return { Array($0.prefix(1)) }
        case RecordOperator.last where hasEnds:
            try request.expectNoOperand()
            return { Array($0.suffix(1)) }
        case RecordOperator.upTo where !filters.isEmpty:
            let (filter, bounds) = try bounds(1, in: request.operand)
            return filter.records { $0 <= bounds[0] }
        case RecordOperator.from where !filters.isEmpty:
            let (filter, bounds) = try bounds(1, in: request.operand)
            return filter.records { $0 >= bounds[0] }
        case RecordOperator.within where !filters.isEmpty:
            let (filter, bounds) = try bounds(2, in: request.operand)
            guard bounds[0] <= bounds[1] else { throw Refusal(.invalidOperand) }
            return filter.records { $0 >= bounds[0] && $0 <= bounds[1] }
        default:
            throw Refusal(.operatorNotSupported)
        }
    }

    private func bounds(
        _ count: Int,
        in operand: [UInt8]
    ) throws(Refusal) -> (RecordFilter<Record>, [Int64]) {
        guard let type = operand.first else { throw Refusal(.invalidOperand) }
        guard let filter = filters.first(where: { $0.type == type }) else {
            throw Refusal(.operandNotSupported)
        }
        guard operand.count == 1 + count * filter.size else { throw Refusal(.invalidOperand) }
        var bounds: [Int64] = []
        for number in 0..<count {
            let start = 1 + number * filter.size
            guard let bound = filter.bound(Array(operand[start..<start + filter.size])) else {
                throw Refusal(.invalidOperand)
            }
            bounds.append(bound)
        }
        return (filter, bounds)
    }
}

/// The reason why an operation is refused.
private struct Refusal: Error {
    let result: RecordAccessResult

    init(_ result: RecordAccessResult) {
        self.result = result
    }
}

extension RecordAccessRequest {
    fileprivate func expectNoOperand() throws(Refusal) {
        guard operand.isEmpty else { throw Refusal(.invalidOperand) }
    }
}

extension RecordFilter {
    fileprivate func records(
        _ isMeant: @escaping @Sendable (Int64) -> Bool
    ) -> @Sendable ([Record]) -> [Record] {
        { records in records.filter { place($0).map(isMeant) ?? false } }
    }
}
