/// Lanes with stable indices.
struct LaneTable {
    private var lanes: [TransmitLane] = []
    /// The unused indices.
    private var free: [Int] = []

    /// The lane at an index in use.
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

    /// Removes the lane at an index.
    mutating func remove(_ place: TransmitLane.Place) -> TransmitLane {
        free.append(place.index)
        defer { lanes[place.index].removeAll() }
        return lanes[place.index]
    }

    /// The indices in use.
    var places: [TransmitLane.Place] {
        lanes.indices.filter { !free.contains($0) }.map { TransmitLane.Place(index: $0) }
    }
}
