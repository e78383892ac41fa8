import PeripheralFitnessMachine
import PeripheralIndoorBike
import PeripheralKit
import PeripheralTesting
import Testing

/// The reports to other centrals when a request ends after its central has gone.
@Suite(.timeLimit(.minutes(1)))
struct FitnessMachineReportingTests {
    /// A bike that carries a request out when its procedure has been cancelled, as a motor that cannot be
    /// called back.
    private static func makeBike(
        _ isLate: @escaping @Sendable (FitnessMachineRequest, Central) -> Bool,
        begun: AsyncStream<Void>.Continuation
    ) -> FitnessMachineService<IndoorBikeData> {
        let control = FitnessMachineControl([], security: .open) { request, central in
            guard isLate(request, central) else { return }
            begun.yield()
            await untilCancelled()
        }
        return FitnessMachineService(
            reporting: IndoorBikeData(kilometersPerHour: 0),
            trainingStatus: TrainingStatus(.manualMode),
            control: control
        )
    }

    private static func untilCancelled() async {
        let (nothing, end) = AsyncStream.makeStream(of: Never.self)
        // A task that is cancelled gets nothing more of a stream.
        for await _ in nothing {}
        end.finish()
    }

    /// Section 4.17.1: the status is for all.
    @Test(
        arguments: [
            (.startOrResume, .startedOrResumedByUser), (.reset, .reset),
        ] as [(FitnessMachineRequest, FitnessMachineStatus)]
    )
    func theOthersAreToldWhenTheCentralLeaves(request: FitnessMachineRequest, told: FitnessMachineStatus)
        async throws
    {
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let bike = Self.makeBike({ late, _ in late == request }, begun: begin)
        let controlPoint = try #require(bike.controlPoint)
        let status = try #require(bike.status)
        let trainingStatus = try #require(bike.trainingStatus)
        try await Peripheral("Bike") { bike }.test { central in
            let other = central.makeAnother()
            try await other.connect()
            try await other.subscribe(to: status)
            try await central.subscribe(to: controlPoint)
            _ = try await central.request(FitnessMachineRequest.requestControl, of: controlPoint)
            try await central.write(request, to: controlPoint)
            for await _ in begun { break }
            central.disconnect()
            #expect(try await other.nextUpdate(of: status) == told)
            let phase = try await other.read(trainingStatus).phase
            #expect(phase == (request == .reset ? .idle : .manualMode))
        }
    }

    /// Section 4.16.2.1: the central that loses the control is notified.
    ///
    /// This holds even if the central that gains the control unsubscribes.
    @Test func whoLosesTheControlIsToldWhenTheNextUnsubscribes() async throws {
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let bike = Self.makeBike({ _, central in central.mtu == 23 }, begun: begin)
        let controlPoint = try #require(bike.controlPoint)
        let status = try #require(bike.status)
        try await Peripheral("Bike") { bike }.test { central in
            let other = central.makeAnother()
            try await other.connect(mtu: 23)
            for phone in [central, other] { try await phone.subscribe(to: controlPoint) }
            try await central.subscribe(to: status)
            _ = try await central.request(FitnessMachineRequest.requestControl, of: controlPoint)
            try await other.write(FitnessMachineRequest.requestControl, to: controlPoint)
            for await _ in begun { break }
            try await other.unsubscribe(from: controlPoint)
            #expect(try await central.nextUpdate(of: status) == .controlPermissionLost)
            let response = try await central.request(FitnessMachineRequest.pause, of: controlPoint)
            #expect(response.result == .controlNotPermitted)
        }
    }
}
