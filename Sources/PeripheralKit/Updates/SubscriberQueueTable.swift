/// Queues with stable indices.
struct SubscriberQueueTable {
    private var queues: [SubscriberQueue] = []
    /// The unused indices.
    private var free: [Int] = []

    /// The queue at an index in use.
    subscript(_ place: SubscriberQueue.ID) -> SubscriberQueue {
        get { queues[place.index] }
        _modify { yield &queues[place.index] }
    }

    mutating func insert(_ queue: SubscriberQueue) -> SubscriberQueue.ID {
        guard let index = free.popLast() else {
            queues.append(queue)
            return SubscriberQueue.ID(index: queues.count - 1)
        }
        queues[index] = queue
        return SubscriberQueue.ID(index: index)
    }

    /// Removes the queue at an index.
    mutating func remove(_ place: SubscriberQueue.ID) -> SubscriberQueue {
        free.append(place.index)
        defer { queues[place.index].removeAll() }
        return queues[place.index]
    }

    /// The indices in use.
    var places: [SubscriberQueue.ID] {
        queues.indices.filter { !free.contains($0) }.map { SubscriberQueue.ID(index: $0) }
    }
}
