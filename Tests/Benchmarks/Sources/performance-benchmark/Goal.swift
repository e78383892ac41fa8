/// What a median should be.
enum Goal {
    case atMost(Double)
    case atLeast(Double)

    func isMet(by median: Double) -> Bool {
        switch self {
        case .atMost(let limit): median <= limit
        case .atLeast(let limit): median >= limit
        }
    }
}
