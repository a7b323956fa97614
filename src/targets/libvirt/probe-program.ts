// What a machine boots to show that its hypervisor can run one: the boot sector of a disk. It does what every kernel does first
// (long mode, paging), then what a hypervisor that only emulates the privileged part of a guest cannot do, or takes too long
// for: vector instructions and fifty million loops in the kernel's own mode. Then it turns the machine off. Where
// anything of this fails, the machine does not turn off: it is paused by its hypervisor, starts again and again, or hangs.

/** Bytes and what they are; runs at 0x7c00, in 16 bits first. */
const LISTING = `
  fa                    cli
  fc                    cld
  31 c0                 xor ax, ax
  8e d8                 mov ds, ax
  8e c0                 mov es, ax
  8e d0                 mov ss, ax
  bc 00 7c              mov sp, 0x7c00
  e4 92                 in al, 0x92              ; address line 20
  0c 02                 or al, 2
  24 fe                 and al, 0xfe
  e6 92                 out 0x92, al
  bf 00 10              mov di, 0x1000           ; three empty tables of pages
  66 31 c0              xor eax, eax
  b9 00 0c              mov cx, 0xc00
  66 f3 ab              rep stosd
  66 c7 06 00 10 03 20 00 00    mov dword [0x1000], 0x2003
  66 c7 06 00 20 03 30 00 00    mov dword [0x2000], 0x3003
  66 c7 06 00 30 83 00 00 00    mov dword [0x3000], 0x83   ; the first 2 MiB as they are
  66 b8 00 10 00 00     mov eax, 0x1000
  0f 22 d8              mov cr3, eax
  0f 20 e0              mov eax, cr4
  66 0d 20 06 00 00     or eax, 0x620            ; PAE, OSFXSR, OSXMMEXCPT
  0f 22 e0              mov cr4, eax
  66 b9 80 00 00 c0     mov ecx, 0xc0000080      ; EFER
  0f 32                 rdmsr
  0d 00 01              or ax, 0x100             ; LME
  0f 30                 wrmsr
  0f 01 16 d8 7c        lgdt [0x7cd8]
  0f 20 c0              mov eax, cr0
  66 83 e0 fb           and eax, ~4              ; EM
  66 0d 03 00 00 80     or eax, 0x80000003       ; PG, MP, PE
  0f 22 c0              mov cr0, eax
  ea 78 7c 08 00        jmp 8:0x7c78             ; from here on in 64 bits
  b8 10 00 00 00        mov eax, 16
  8e d8                 mov ds, eax
  8e c0                 mov es, eax
  8e d0                 mov ss, eax
  48 b8 ef cd ab 89 67 45 23 01    mov rax, 0x0123456789abcdef
  66 48 0f 6e c0        movq xmm0, rax
  66 0f d4 c0           paddq xmm0, xmm0
  66 48 0f 7e c3        movq rbx, xmm0
  48 01 c0              add rax, rax
  48 39 c3              cmp rbx, rax
  75 13                 jne 0x7cb6
  b9 80 f0 fa 02        mov ecx, 50000000
  ff c9                 dec ecx
  75 fc                 jnz 0x7ca8
  66 ba 04 06           mov dx, 0x604            ; the power button of QEMU's machines
  66 b8 00 20           mov ax, 0x2000
  66 ef                 out dx, ax
  f4                    hlt                      ; 0x7cb6
  eb fd                 jmp 0x7cb6
  0f 1f 80 00 00 00 00  nop
  00 00 00 00 00 00 00 00          ; segments at 0x7cc0: none,
  00 00 00 00 00 9a 20 00          ; code,
  00 00 00 00 00 92 00 00          ; data
  17 00 c0 7c 00 00                ; 0x7cd8: how many, and where
`

/** The firmware takes less for a broken disk. */
const DISK_BYTES = 1024 ** 2
const SIGNATURE_AT = 510

/** The whole disk. */
export function probeDisk(): Uint8Array {
  const code = [...LISTING.matchAll(/^ {2}((?:[0-9a-f]{2} )+)/gmu)]
    .map(([, bytes]) => bytes.replaceAll(' ', ''))
    .join('')
  const disk = Buffer.alloc(DISK_BYTES)
  disk.write(code, 'hex')
  disk.writeUInt16LE(0xaa55, SIGNATURE_AT)
  return disk
}
