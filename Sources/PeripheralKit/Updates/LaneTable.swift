/// Lanes, each of which keeps its place as long as it is there.
struct LaneTable {
    private var lanes: [TransmitLane] = []
    /// The indices that no lane has.
    private var free: [Int] = []

    /// The lane at a place that is in use.
    subscript(_ place: TransmitLane.Place) -> TransmitLane {
        get { lanes[place.index] }
        _modify { yield &lanes[place.index] }
    }

    mutating func insert(_ lane: TransmitLane) -> TransmitLane.Place {
        guard let index = free.popLast() else {
            lanes.append(lane)
            return TransmitLane.Place(index: lanes.count - 1)
        }
        lanes[index] = lane
        return TransmitLane.Place(index: index)
    }

    /// Empties a place.
    mutating func remove(_ place: TransmitLane.Place) -> TransmitLane {
        free.append(place.index)
        defer { lanes[place.index].removeAll() }
        return lanes[place.index]
    }

    /// The places in use.
    var places: [TransmitLane.Place] {
        lanes.indices.filter { !free.contains($0) }.map { TransmitLane.Place(index: $0) }
    }
}
