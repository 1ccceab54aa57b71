//===- start.S - The start of programs ------------------------------------===//
//
// What crt1.o of a C library is, for programs that hftac links by itself. It can't be
// compiled C, as the kernel puts the arguments onto the stack.
//
// glibc before 2.34 calls constructors only through the function that its
// __libc_start_main is given, and newer ones call that function, too, if it is given,
// instead of going through the constructors by themselves.
//
//===----------------------------------------------------------------------===//

        .text
        .globl  _start
        .hidden _start
        .type   _start, @function
_start:
        .cfi_startproc
        .cfi_undefined rip                   // there is no caller
        xorl    %ebp, %ebp
        movq    %rdx, %r9                    // what the dynamic linker runs at the end
        popq    %rsi                         // argc
        movq    %rsp, %rdx                   // argv
        andq    $-16, %rsp
        pushq   %rax                         // keeps the stack aligned
        pushq   %rsp                         // the end of the stack
        xorl    %r8d, %r8d                   // no function for destructors
        leaq    call_constructors(%rip), %rcx
        leaq    main(%rip), %rdi
        call    *__libc_start_main@GOTPCREL(%rip)
        hlt                                  // never reached
        .cfi_endproc
        .size   _start, . - _start

// Calls the constructors with argc, argv and the environment.
        .type   call_constructors, @function
call_constructors:
        .cfi_startproc
        pushq   %rbx
        .cfi_adjust_cfa_offset 8
        pushq   %r12
        .cfi_adjust_cfa_offset 8
        pushq   %r13
        .cfi_adjust_cfa_offset 8
        pushq   %r14
        .cfi_adjust_cfa_offset 8
        pushq   %r15
        .cfi_adjust_cfa_offset 8
        movl    %edi, %r12d
        movq    %rsi, %r13
        movq    %rdx, %r14
        leaq    __init_array_start(%rip), %rbx
        leaq    __init_array_end(%rip), %r15
.Lnext: cmpq    %r15, %rbx
        je      .Ldone
        movl    %r12d, %edi
        movq    %r13, %rsi
        movq    %r14, %rdx
        call    *(%rbx)
        addq    $8, %rbx
        jmp     .Lnext
.Ldone: popq    %r15
        .cfi_adjust_cfa_offset -8
        popq    %r14
        .cfi_adjust_cfa_offset -8
        popq    %r13
        .cfi_adjust_cfa_offset -8
        popq    %r12
        .cfi_adjust_cfa_offset -8
        popq    %rbx
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_endproc
        .size   call_constructors, . - call_constructors

        .hidden __init_array_start
        .hidden __init_array_end
        .section .note.GNU-stack, "", @progbits
