import PeripheralFitnessMachine
import PeripheralIndoorBike

/// A model of a rider on an indoor bike, in steps of any length.
struct SimulatedRider {
    /// The setting of the bike.
    enum Setting {
        /// The rider chooses the power.
        case free
        /// The bike holds a power at any cadence.
        case power(watts: Int)
        /// The bike simulates a road, on which the rider tries to hold a speed.
        case road(BikeSimulation)
    }

    /// The state of the training.
    enum Training: Equatable {
        /// The rider pedals, but nothing is counted yet.
        case notStarted
        case running
        /// The rider rests, and will continue the same training.
        case paused
        /// The rider rests, and will start another training.
        case stopped
    }

    var setting = Setting.free
    private(set) var training = Training.notStarted

    private var watts = 0.0
    private var metersPerSecond = 0.0
    private var bpm = Self.restingBPM
    private var meters = 0.0
    private var joules = 0.0
    private var seconds = 0.0

    private static let restingBPM = 65.0
    private static let weight = 9.81 * 85  // newtons, with the bike
    private static let easyWatts = 150.0
    private static let mostWatts = 350.0
    private static let cruisingSpeed = 8.0  // meters per second
    private static let flatRoad = BikeSimulation(gradePercent: 0)

    /// Starts or resumes the training.
    ///
    /// - Returns: Whether it was not running.
    mutating func start() -> Bool {
        guard training != .running else { return false }
        if training == .stopped { (meters, joules, seconds) = (0, 0, 0) }
        training = .running
        return true
    }

    /// Pauses the training: the rider rests.
    ///
    /// - Returns: Whether it was running.
    mutating func pause() -> Bool {
        guard training == .running else { return false }
        training = .paused
        return true
    }

    /// Stops a running or paused training: the rider rests.
    ///
    /// - Returns: Whether there was one.
    mutating func stop() -> Bool {
        guard training == .running || training == .paused else { return false }
        training = .stopped
        return true
    }

    /// Advances the simulation by a number of seconds.
    mutating func ride(for duration: Double) {
        watts += (intendedWatts - watts) * duration / (duration + 1)
        // Without slope and wind, the bike stops when the rider rests.
        let speed = isResting ? 0 : Self.speed(at: watts, on: road)
        metersPerSecond += (speed - metersPerSecond) * duration / (duration + 2)
        bpm += (min(Self.restingBPM + watts * 0.4, 190) - bpm) * duration / (duration + 20)
        guard training == .running else { return }
        seconds += duration
        meters += metersPerSecond * duration
        joules += watts * duration
    }

    /// The measurement of the bike.
    var measurement: IndoorBikeData {
        IndoorBikeData(
            kilometersPerHour: metersPerSecond * 3.6,
            rpm: watts < 5 ? 0 : 70 + watts / 20,
            meters: Int(meters),
            watts: Int(watts.rounded()),
            workout: WorkoutData(
                // A body burns about 4 joules for each joule that reaches the pedals, and a calorie is about
                // 4 joules.
                kilocalories: Int(joules / 1_000),
                bpm: Int(bpm.rounded()),
                elapsedSeconds: Int(seconds)
            )
        )
    }

    /// The status of the training.
    var trainingStatus: TrainingStatus {
        switch (training, setting) {
        // The status after a reset is idle (Fitness Machine Service 1.0, section 4.16.2.2).
        case (.notStarted, _), (.paused, _), (.stopped, _): TrainingStatus(.idle)
        case (.running, .power): TrainingStatus(.wattControl)
        case (.running, _): TrainingStatus(.manualMode)
        }
    }

    private var isResting: Bool { training == .paused || training == .stopped }

    private var road: BikeSimulation {
        if case .road(let road) = setting { road } else { Self.flatRoad }
    }

    private var intendedWatts: Double {
        guard !isResting else { return 0 }
        return switch setting {
        case .free: Self.easyWatts
        case .power(let watts): Double(watts)
        case .road(let road):
            min(max(Self.watts(at: Self.cruisingSpeed, on: road), 0), Self.mostWatts)
        }
    }

    /// Returns the power that a speed requires, against grade, tires and wind.
    static func watts(at metersPerSecond: Double, on road: BikeSimulation) -> Double {
        let air = metersPerSecond + road.windMetersPerSecond
        let drag = road.windResistance * air * abs(air)
        return metersPerSecond * (weight * (road.gradePercent / 100 + road.rollingResistance) + drag)
    }

    /// Returns the speed that a power achieves, in meters per second: 0 to 25.
    static func speed(at watts: Double, on road: BikeSimulation) -> Double {
        var (slow, fast) = (0.0, 25.0)
        for _ in 0..<20 {
            let speed = (slow + fast) / 2
            if Self.watts(at: speed, on: road) <= watts { slow = speed } else { fast = speed }
        }
        return slow
    }
}
