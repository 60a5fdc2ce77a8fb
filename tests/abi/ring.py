"""For mpi4py on two ranks or more: objects, arrays, a window, an error."""
from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.rank, world.size
right, left = (rank + 1) % size, (rank - 1) % size

assert MPI.Get_library_version().startswith("Hotlane")
assert world.sendrecv({"from": rank}, dest=right, source=left) == {"from": left}
assert world.allgather((rank, "x" * rank)) == [(i, "x" * i) for i in range(size)]
total = array("d", [0.0])
world.Allreduce(array("d", [1.0]), total)
assert total[0] == size

window = MPI.Win.Allocate(8, 8, comm=world)
mine = memoryview(window).cast("d")
mine[0] = -1
window.Fence()
window.Put(array("d", [float(rank)]), right)
window.Fence()
assert mine[0] == left
mine.release()
window.Free()

try:
    world.Send(total, dest=size)
except MPI.Exception as error:
    assert error.Get_error_class() == MPI.ERR_RANK
else:
    raise AssertionError("a send to nobody went well")
print("ok")
