! Fortran, with the module mpi: messages, requests, a collective, ignored statuses. For 2 ranks.
program taps_fortran
    use mpi
    implicit none
    integer :: rank, other, ierror, sum, requests(2), position, status(MPI_STATUS_SIZE)
    integer :: in(10), out(10), i
    logical :: flag
    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    other = 1 - rank
    out = (/ (100 * rank + i, i = 1, 10) /)
    call MPI_Sendrecv(out, 10, MPI_INTEGER, other, 1, in, 10, MPI_INTEGER, other, 1, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    if (in(10) /= 100 * other + 10) print *, "not so: Sendrecv"
    call MPI_Irecv(in, 10, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Isend(out, 5, MPI_INTEGER, other, 2, MPI_COMM_WORLD, requests(2), ierror)
    do i = 1, 2
        call MPI_Waitany(2, requests, position, status, ierror)
        if (position < 1 .or. position > 2) print *, "not so: Waitany"
    end do
    call MPI_Irecv(in, 10, MPI_INTEGER, other, 3, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Isend(out, 10, MPI_INTEGER, other, 3, MPI_COMM_WORLD, requests(2), ierror)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
    call MPI_Ibarrier(MPI_COMM_WORLD, requests(1), ierror)
    flag = .false.
    do while (.not. flag)
        call MPI_Test(requests(1), flag, status, ierror)
    end do
    sum = rank
    call MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    if (sum /= 1) print *, "not so: Allreduce"
    call MPI_Finalize(ierror)
    print '(a, i0, a)', "fortran: rank ", rank, " ok"
end program taps_fortran
