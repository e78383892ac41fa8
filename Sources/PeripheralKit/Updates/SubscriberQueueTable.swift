/// Lanes with stable indices.
struct SubscriberQueueTable {
    private var lanes: [SubscriberQueue] = []
    /// The unused indices.
    private var free: [Int] = []

    /// The lane at an index in use.
    subscript(_ place: SubscriberQueue.Place) -> SubscriberQueue {
        get { lanes[place.index] }
        _modify { yield &lanes[place.index] }
    }

    mutating func insert(_ lane: SubscriberQueue) -> SubscriberQueue.Place {
        guard let index = free.popLast() else {
            lanes.append(lane)
            return SubscriberQueue.Place(index: lanes.count - 1)
        }
        lanes[index] = lane
        return SubscriberQueue.Place(index: index)
    }

    /// Removes the lane at an index.
    mutating func remove(_ place: SubscriberQueue.Place) -> SubscriberQueue {
        free.append(place.index)
        defer { lanes[place.index].removeAll() }
        return lanes[place.index]
    }

    /// The indices in use.
    var places: [SubscriberQueue.Place] {
        lanes.indices.filter { !free.contains($0) }.map { SubscriberQueue.Place(index: $0) }
    }
}
