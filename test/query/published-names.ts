// File names as publishers write them, the questions that people type about them, and the right answers.

/** A question to `images latest`. */
export interface Question {
  readonly typed: string;
  /** A name, or `ambiguous` if the names alone leave several, or `none`. */
  readonly answer: string;
  /** False if the answer takes knowledge that is not in the names. */
  readonly seen: boolean;
}

/** The names of each line are in the publisher's order, the newest first. */
export interface Family {
  readonly title: string;
  readonly lines: readonly (readonly [pattern: string, names: string[]])[];
  readonly names: readonly string[];
  readonly questions: readonly Question[];
}

/**
 * A family: its title, questions with answers, and below it the names, with * for what follows the colon. An answer is
 * what * stands for, or a part of one name only. ~ marks a question whose answer is not seen in the names.
 */
export const FAMILIES: readonly Family[] =
  `Ubuntu cloud images? ubuntu = 26.04; ubuntu 22.04 = 22.04; ubuntu 24 = 24.10; ubuntu server 18.04 = 18.04; ubuntu2404 = 24.04; ~jammy = 22.04
  ubuntu-*-server-cloudimg-amd64.img: 26.04, 25.10, 24.10, 24.04, 22.04, 18.04
Debian genericcloud? debian = 20250911-2232; debian 12 = 20260712-2537; debian11 = 20260707-2532; genericcloud 12 amd64 = 20260712-2537; debian 10 = none; ~bookworm = 20260712-2537
  debian-*-genericcloud-amd64-*.qcow2: 13 20250911-2232, 12 20260712-2537, 12 20250115-1993, 11 20260707-2532
AlmaLinux 8? almalinux 8 = 8.10-20260518; almalinux8 = 8.10-20260518; alma 8.10 = 8.10-20260518; almalinux 8.9 = 8.9-20231128; alma x86_64 = 8.10-20260518
  AlmaLinux-8-GenericCloud-*.x86_64.qcow2: 8.10-20260518, 8.10-20240530, 8.9-20231128, 8.6-20220513
AlmaLinux 10? alma = 10.2-20260526.0; almalinux 10 = 10.2-20260526.0; almalinux10.1 = 10.1-20260414.0; AlmaLinux 10.0 = 10.0-20250528.0
  AlmaLinux-10-GenericCloud-*.x86_64.qcow2: 10.2-20260526.0, 10.1-20260414.0, 10.0-20250528.0
Rocky GenericCloud? rocky9 = 9.8-20260525.0; rocky = 10.0-20250609.1; rocky 9.4 = 9.4-20240609.1; rocky 8 = 8.10-20240528.0; rocky 8.9 = 8.9-20231119.0; rocky-10 = 10.0-20250609.1
  Rocky-*-GenericCloud-Base-*.x86_64.qcow2: 10 10.0-20250609.1, 9 9.8-20260525.0, 9 9.4-20240609.1, 9 9.4-20240523.0, 8 8.10-20240528.0, 8 8.9-20231119.0
CentOS Stream? centos stream 9 = 9-20260714.1; centos stream = 10-20241216.0; stream8 = 8-20240429.0; centos stream 10 = 10-20241216.0; centos stream 9 20230720 = 9-20230720.0
  CentOS-Stream-GenericCloud-*.x86_64.qcow2: 10-20241216.0, 9-20260714.1, 9-20230807.1, 9-20230720.0, 8-20240429.0
Kubernetes nodes on CentOS 7? centos 7 kube = 1.23.5; centos7 = 1.23.5; centos kube v1.20 = 1.20.1; centos kube 1.15 = 1.15.10; centos-7-kube-v1.15.6 = 1.15.6
  centos-7-kube-v*.ova: 1.23.5, 1.20.1, 1.15.10, 1.15.6, 1.13.9
CentOS appliances? centos 8 = 8.4.2105; centos = 8.4.2105; centos 7.9 = 7.9.2009; centos8.3 = 8.3.2011; centos 7 = 7.9.2009
  CentOS-*-x86_64.ova: 8.4.2105, 8.3.2011, 8.2.2004, 7.9.2009, 7.6.1810
Windows Server, dated? windows server 2022 = 2022 20240415; windows 2019 = 2019 20240312; windows server = 2022 20240415; windows server 2016 = none; windows-server-2019-20221010 = 2019 20221010
  windows-server-*-*.ova: 2022 20240415, 2022 20230116, 2019 20240312, 2019 20221010
Fedora cloud base? fedora = 39-1.5; fedora 38 = 38-1.6; fedora cloud base 37 = 37-1.7; fedora base 39 = 39-1.5; fedora base 34-1.2 = 34-1.2
  Fedora-Cloud-Base-*.x86_64.qcow2: 39-1.5, 38-1.6, 37-1.7, 34-1.2
openSUSE Leap Minimal-VM? leap 15.5 = 15.5; opensuse leap = 15.6; leap15 = 15.6; opensuse minimal-vm 15 = 15.6
  openSUSE-Leap-*-Minimal-VM.x86_64-Cloud.qcow2: 15.6, 15.5
openSUSE Leap 15.0 builds? leap openstack = 150.12.140; leap 15.0 = 150.12.140; opensuse 0.0.4 = 150.12.140
  openSUSE-Leap-15.0-OpenStack.x86_64-0.0.4-Buildlp*.qcow2: 150.12.140, 150.12.80, 150.12.12
SLES Minimal-VM GM? sles15 = SP7; sles 15 sp6 = SP6; sles15sp5 = SP5; sles = SP7; SLES15-SP7 = SP7
  SLES15-*-Minimal-VM.x86_64-Cloud-GM.qcow2: SP7, SP6, SP5
Kubernetes nodes on Photon 3? photon 3 kube = 1.23.16; photon3 = 1.23.16; photon kube 1.22 = 1.22.8; photon-3-kube-v1.15 = 1.15.10; kube 1.23.15 = 1.23.15
  photon-3-kube-v*.ova: 1.23.16, 1.23.15, 1.22.8, 1.15.10, 1.15.6
FreeBSD releases? freebsd = 14.0; freebsd 13 = 13.1; freebsd13.0 = 13.0; freebsd 12 = 12.1; freebsd release amd64 = 14.0
  FreeBSD-*-RELEASE-amd64.vmdk.xz: 14.0, 13.1, 13.0, 12.1, 11.4
Kubernetes nodes on Flatcar? flatcar = 3815.2.2 1.30.0; flatcar 3374 = 3374.2.5 1.24.11; flatcar kube 1.28 = 3510.2.6 1.28.0; flatcar kube v1.25 = 3374.2.4 1.25.6; flatcar stable = 3815.2.2 1.30.0
  flatcar-stable-*-kube-v*.ova: 3815.2.2 1.30.0, 3602.2.3 1.29.0, 3510.2.6 1.28.0, 3374.2.5 1.24.11, 3374.2.4 1.25.6
Amazon Linux 2? amzn2 = 2.0.20240916.0; amzn2 vmware = 2.0.20240916.0; amzn2 2.0.20230119 = 2.0.20230119.1; amzn2 x86_64 = 2.0.20240916.0; ~amazon linux = 2.0.20240916.0
  amzn2-vmware_esx-*-x86_64.xfs.gpt.ova: 2.0.20240916.0, 2.0.20230119.1, 2.0.20210813.1, 2.0.20200617.0
Amazon Linux 2023? al2023 = 2023.11.20260406.2; al2023 2023.10 = 2023.10.20260216.1; al2023 kvm = 2023.11.20260406.2; al2023 kernel 6.1 = 2023.11.20260406.2
  al2023-kvm-*-kernel-6.1-x86_64.xfs.gpt.qcow2: 2023.11.20260406.2, 2023.10.20260216.1, 2023.5.20240805.0
openSUSE Leap DVD? ~leap dvd = 15.0; leap 42.3 = 42.3; leap 15 = 15.0; opensuse leap 42 = 42.3
  openSUSE-Leap-*-DVD-x86_64.iso: 15.0, 42.3
Debian 12, rolling and dated? debian 12 nocloud = 20260712; debian genericcloud = ambiguous; debian = ambiguous; debian12 nocloud 20260615 = nocloud-amd64-20260615
  debian-12-genericcloud-amd64-20260615-2510.qcow2
  debian-12-genericcloud-amd64.qcow2
  debian-12-nocloud-amd64-*.qcow2: 20260712-2537, 20260615-2510
SLES Minimal-VM updates? sles15 = SP7; sles 15 sp6 = SP6; sles15sp5 = SP5; sles QU4 = QU4
  SLES15-*.qcow2: SP7-Minimal-VM.x86_64-Cloud-GM, SP6-Minimal-VM.x86_64-Cloud-QU2, SP5-Minimal-VM.x86_64-Cloud-QU4
Photon 3 with hash builds? photon 3.0 uefi = ambiguous; photon 26156e2 = 26156e2; photon-hw13 = ambiguous; photon 2.0 = none
  photon-hw13_uefi-3.0-*.ova: a383732, 26156e2
Ubuntu live server? ubuntu 24.04 = 24.04.3; ubuntu 22.04 = 22.04.5; ubuntu20.04 = 20.04.6; ubuntu 24.04.2 = 24.04.2; ubuntu live server = 24.04.3; ~noble = 24.04.3
  ubuntu-*-live-server-amd64.iso: 24.04.3, 24.04.2, 24.04, 22.04.5, 22.04.1, 22.04, 20.04.6
Ubuntu by code name? noble = noble; jammy server = jammy; focal amd64 = focal; server cloudimg = ambiguous; ~ubuntu 22.04 = jammy
  *-server-cloudimg-amd64.ova: noble, jammy, focal, bionic
Ubuntu cloud, dated copies? ubuntu 24.04 = 20260826; ubuntu 22.04 = 20260501; ubuntu = 20260826; ubuntu 24.04 20240911 = 20240911; ubuntu-20 = 20201102
  ubuntu-*-server-cloudimg-amd64-*.img: 24.04 20260826, 24.04 20240911, 22.04 20260501, 20.04 20201102
Ubuntu desktop disks? ubuntu 20.04 = 20.04.4; ubuntu 64bit = 24.04; ubuntu18.04 = 18.04.6; ubuntu 22 = 22.04
  Ubuntu * (64bit).vmdk: 24.04, 22.04, 20.04.4, 18.04.6, 16.04.6
Debian netinst? debian 12 = 12.10.0; debian11 = 11.11.0; debian 12.1 = 12.1.0; debian netinst = 12.10.0; debian 12.9 = 12.9.0
  debian-*-amd64-netinst.iso: 12.10.0, 12.9.0, 12.1.0, 11.11.0, 11.9.0
Debian qcow2? debian 11 = 11.10; debian12 = 12.6; debian = 12.6; debian 11.8 = 11.8; debian 12.4 = 12.4
  debian-*.qcow2: 12.6, 12.4, 11.10, 11.8
Rocky ISO? rocky minimal 8 = 8.10-x86_64-minimal; rocky 9.5 = ambiguous; rocky9 dvd = 9.5-x86_64-dvd; rocky = ambiguous; rocky minimal = 9.5-x86_64-minimal
  Rocky-*-x86_64-minimal.iso: 9.5, 9.4, 8.10, 8.9
  Rocky-*-x86_64-dvd.iso: 9.5, 8.10
AlmaLinux, all releases? almalinux9 = 9.6-20250522; alma 9.5 = 9.5-20241120; almalinux = 10.2-20260526.0; almalinux 8 = 8.10-20260518; alma 9 genericcloud = 9.6-20250522
  AlmaLinux-*-GenericCloud-*.x86_64.qcow2: 10 10.2-20260526.0, 9 9.6-20250522, 9 9.5-20241120, 8 8.10-20260518, 8 8.9-20231128
CentOS 7 GenericCloud? ~centos 7 = 2009; centos 2009 = 2009; centos 7 genericcloud 20141129 = 20141129_01; centos 7 1907 = 1907
  CentOS-7-x86_64-GenericCloud-*.qcow2: 2009, 2003, 1907, 20160221_01, 20141129_01
Fedora Cloud Generic? fedora = 44-1.7; fedora 43 = 43-1.6; fedora42 = 42-1.1; fedora cloud generic 41 = 41-1.4; fedora 40 = none
  Fedora-Cloud-Base-Generic-*.x86_64.qcow2: 44-1.7, 43-1.6, 42-1.1, 41-1.4
Fedora CoreOS? fedora coreos = 37.20230205.3.0; coreos 35 = 35.20220327.3.0; coreos 34.20210626 = 34.20210626.3.1; fedora coreos x86_64 = 37.20230205.3.0; ~fcos = 37.20230205.3.0
  fedora-coreos-*-qemu.x86_64.qcow2: 37.20230205.3.0, 35.20220327.3.0, 34.20210626.3.1, 33.20210328.3.0
SLES Minimal-VM for several platforms? sles 15 sp4 = ambiguous; sles15 vmware = SP5-Minimal-VM.x86_64-VMware; sles sp4 openstack = QU4; sles15sp4 vmware = SP4-Minimal-VM.x86_64-VMware; sles15 openstack = SP5-Minimal-VM.x86_64-OpenStack
  SLES15-*-Minimal-VM.x86_64-VMware-GM.vmdk.xz: SP5, SP4
  SLES15-*.qcow2: SP5-Minimal-VM.x86_64-OpenStack-Cloud-GM, SP4-Minimal-VM.x86_64-OpenStack-Cloud-QU4, SP4-Minimal-VM.x86_64-OpenStack-Cloud-GM
SLES JeOS? sles12 = SLES12; sles 15 sp1 = SP1; sles15 = SP2; sles jeos = SP2; sles 12 sp5 = SP5
  SLES*-OpenStack-Cloud-GM.qcow2: 15-SP2-JeOS.x86_64-15.2, 15-SP1-JeOS.x86_64-15.1, 12-SP5-JeOS.x86_64-12.5
openSUSE Tumbleweed? tumbleweed = 20260929; tumbleweed 20240725 = 20240725; opensuse tumbleweed x86_64 = 20260929; leap = none
  openSUSE-Tumbleweed-NET-x86_64-Snapshot*-Media.iso: 20260929, 20260714, 20240813, 20240725, 20240321, 20221004
Alpine cloud images? alpine aarch64 = aarch64; alpine x86_64 = ambiguous; alpine 3.21 bios cloudinit = 3.21.2-x86_64-bios; alpine tiny = 3.21.6; alpine uefi x86_64 = 3.20.9; alpine = ambiguous
  nocloud_alpine-*-x86_64-bios-cloudinit-r0.qcow2: 3.21.2, 3.21.0, 3.20.1, 3.19.0
  nocloud_alpine-*-x86_64-uefi-cloudinit-r0.qcow2: 3.20.9, 3.19.1
  nocloud_alpine-3.21.6-x86_64-bios-tiny-r0.qcow2
  nocloud_alpine-3.21.2-aarch64-uefi-cloudinit-r0.qcow2
Alpine virt? alpine x86_64 = 3.20.3; alpine 3.19 = 3.19.1; alpine 3.20.0 = 3.20.0; alpine3.20 = 3.20.3; alpine virt 3.9 = 3.9.6; alpine = 3.20.3
  alpine-virt-*-x86_64.iso: 3.20.3, 3.20.0, 3.19.1, 3.9.6
Arch cloud images? arch linux = 20261001.604814; arch x86_64 = 20261001.604814; arch cloudimg 20240915 = 20240915.263127; arch 20210923.0 = 20210923.0
  Arch-Linux-x86_64-cloudimg-*.qcow2: 20261001.604814, 20260901.583572, 20260215.491172, 20240915.263127, 20210923.0
Arch ISO? archlinux = 2024.11.01; arch 2023 = 2023.12.01; archlinux-2024.05 = 2024.05.01; archlinux 2024 = 2024.11.01; arch x86_64 = 2024.11.01
  archlinux-*-x86_64.iso: 2024.11.01, 2024.05.01, 2023.12.01
Kali? kali = 2025.4; kali linux 2024 = 2024.4; kali 2024.1 = 2024.1; kali qemu amd64 = 2025.4
  kali-linux-*-qemu-amd64.qcow2: 2025.4, 2024.4, 2024.1, 2023.3
Kali, repaired releases? kali = 2019.2; kali 2019.1 = 2019.1a; kali 2018 = 2018.4; kali 2018.3 = 2018.3a; kali linux 2019 = 2019.2
  kali-linux-*-amd64.iso: 2019.2, 2019.1a, 2019.1, 2018.4, 2018.3a, 2018.3
FreeBSD with previews? freebsd 14.1 = 14.1-RELEASE; freebsd 14 = 14.1-RELEASE; freebsd = 14.1-RELEASE; freebsd rc1 = 14.1-RC1; freebsd 13 = 13.3-RELEASE
  FreeBSD-*-amd64.qcow2.xz: 14.1-RELEASE, 14.1-RC1, 14.1-BETA3, 14.0-RELEASE, 13.3-RELEASE
OpenBSD? install74 = 74; install = 75; install 73 = 73; ~openbsd 7.5 = 75
  install*.iso: 75, 74, 73, 66
NixOS? nixos = 20.09.2538; nixos 19.03 = 173251; nixos 20.09 = 20.09.2538; nixos x86_64 = 20.09.2538; nixos 16 = 16.03.1168
  nixos-*-x86_64-linux.ova: 20.09.2538.0cfd08f4881, 19.03.173251.56d94c8c69f, 19.03.173214.4cc5592fe2d, 16.03.1168.44b1d6b
Photon releases? photon 5 = 5.0-dde71ec57; photon 4.0 = ambiguous; photon c001795b80 = c001795b80; photon = 5.0-dde71ec57; photon ova 4 = ambiguous
  photon-ova-*.ova: 5.0-dde71ec57.x86_64, 4.0-c001795b80, 4.0-ca7c9e9330
Talos? talos 1.9 = v1.9.5; talos v1.8 = v1.8.4; talos = ambiguous; talos 1.10 = v1.10.0-beta.1; talos-v1.9.0 = v1.9.0
  talos-*-vmware-amd64.ova: v1.10.0-beta.1, v1.9.5, v1.9.0, v1.8.4
Bottlerocket? bottlerocket k8s 1.28 = 1.28 1.19.0; bottlerocket 1.27 = 1.27 1.19.0; bottlerocket vmware = 1.28 1.19.0; bottlerocket k8s-1.23 = 1.23 1.10.1; bottlerocket k8s 1.28 v1.16.1 = 1.28 1.16.1
  bottlerocket-vmware-k8s-*-x86_64-v*.ova: 1.28 1.19.0, 1.28 1.16.1, 1.27 1.19.0, 1.23 1.10.1
VyOS? vyos = 1.5.1; vyos 1.4 = 1.4.5; vyos 1.3 = 1.3.2; vyos 1.3.1 = 1.3.1-S1; vyos kvm 1.4.0 = 1.4.0; vyos 1.3.0 = 1.3.0
  vyos-*-kvm-amd64.qcow2: 1.5.1, 1.5.0, 1.4.5, 1.4.4, 1.4.0
  vyos-*-10G-qemu.qcow2: 1.3.2, 1.3.1-S1, 1.3.1, 1.3.0
VyOS rolling? vyos rolling = 202512181356; vyos 1.5 = 202512181356; vyos 202411190447 = 202411190447; vyos generic amd64 = 202512181356
  vyos-1.5-rolling-*-generic-amd64.iso: 202512181356, 202503030030, 202411190447, 202409250007
F5 BIG-IP? bigip = 17.5.1.3; bigip 16.1 = 16.1.4.1-0.0.5; bigip 16 = 16.1.4.1-0.0.5; bigip-15 = none; bigip 16.0 = 16.0.0.1-0.0.3; bigip 16.1.4 = 16.1.4.1-0.0.5
  BIGIP-*.ALL-vmware.ova: 17.5.1.3-0.0.19, 16.1.4.1-0.0.5, 16.1.4-0.0.22, 16.1.3-0.0.12, 16.0.0.1-0.0.3, 16.0.0-0.0.12
F5 BIG-IP, old? bigip 13.1 = 13.1.0.5-0.0.5; bigip 12 = 12.1.3.4-0.0.2; bigip 13.0 = 13.0.0.2.0.1671; bigip 13.1.0.1 = 13.1.0.1.0.0.8; bigip = 14.0.0.3-0.0.4
  BIGIP-*.qcow2: 14.0.0.3-0.0.4, 13.1.0.5-0.0.5, 13.1.0.2.0.0.6, 13.1.0.1.0.0.8, 13.0.0.2.0.1671, 12.1.3.4-0.0.2, 12.1.2.0.0.249
F5 BIG-IQ? big-iq = 7.1.0.0.0.1511; big-iq 7.0 = 7.0.0.1.0.0.6; bigiq = 7.1.0.0.0.1511; big-iq 6 = 6.0.1.1.0.0.9; big-iq 5.4 = 5.4.0.2.24.7467
  BIG-IQ-*.qcow2: 7.1.0.0.0.1511, 7.0.0.1.0.0.6, 6.0.1.1.0.0.9, 5.4.0.2.24.7467
Palo Alto PA-VM with hotfixes? pa-vm 11.1 = 11.1.16-h1; pa-vm 11.1.6 = 11.1.6-h7; pa-vm = 11.2.8; pa-vm-kvm 11.2 = 11.2.8; ~panos 11.1 = 11.1.16-h1; pa-vm 11.0 = 11.0.2; pa-vm 11 = 11.2.8
  PA-VM-KVM-*.qcow2: 11.2.8, 11.2.5-h1, 11.1.16-h1, 11.1.6-h7, 11.1.6, 11.1.0, 11.0.2, 11.0.0
Palo Alto PA-VM for two hypervisors? pa-vm = ambiguous; pa-vm kvm = KVM-11.2.8; pa-vm esx = ESX-11.1.4; pa-vm 8.1 = ambiguous; pa-vm-kvm 9.1 = KVM-9.1.3; pa-vm esx 10 = ESX-10.2.6
  PA-VM-KVM-*.qcow2: 11.2.8, 10.2.4, 10.1.12, 9.1.3, 9.1.2, 8.1.0
  PA-VM-ESX-*-disk1.vmdk: 11.1.4, 10.2.6, 10.0.4, 8.1.0, 7.1.0
FortiGate? fgt = 7.4.7.M; fgt 7.2 = 7.2.7.M; fgt 7.0 = 7.0.15.M; fgt_vm64_kvm v7.4.3 = 7.4.3.F; ~fortigate = 7.4.7.M; fortinet = 7.4.7.M
  FGT_VM64_KVM-v*-FORTINET.out.kvm.qcow2: 7.4.7.M-build2731, 7.4.6.M-build2726, 7.4.3.F-build2573, 7.2.7.M-build1577, 7.2.6.F-build1575, 7.0.15.M-build0601, 7.0.9.M-build0444
FortiMail? fml = 722.M; fml v705 = 705; fml build0719 = 54-build0719; fml 647 = 647
  FML_VMKV-64-v*-FORTINET.out.kvm.qcow2: 722.M-build0380, 721.M-build0364, 705-build0208, 647-build0467, 60-build0257, 60-build0160, 54-build0719
FortiADC, two ways to write a version? fad = ambiguous; fad 7.2 = V7.2.6; fad v500 = V500-build0655; fad 7.4 = V7.4.4
  FAD_KVM-*-FORTINET.out.kvm_boot.qcow2: V7.4.4-build0347, V7.2.6-build0257, v700-build0111, v600-build0237, V500-build0655, V500-build0442
Check Point Gaia? check_point 81.20 = R81.20_T631; check point r81 = R81.20_T631; check_point = R81.20_T631; Check_Point_R80.40 = R80.40_T294; checkpoint 80.10 = R80.10_T479
  Check_Point_*.iso: R81.20_T631, R81.10_T335, R81_T392, R80.40_T294, R80.10_T479_Gaia
Cisco ASAv? asav = 9-23-1; asav 9.18 = 9-18-2; asav9-12 = 9-12-2-9; asav9-22 = 9-22-1-1; asav 9-12-2-9 = 9-12-2-9
  asav*.qcow2: 9-23-1, 9-22-1-1, 9-18-2, 9-16-2, 9-12-2-9, 9-12-2
Cisco ASAv, two ways to write a version? asav = ambiguous; asav9-18 = 9-18-2; asav992 = asav992; asav 984-15 = 984-15
  asav*.qcow2: 9-23-1, 9-18-2, 9-16-2, 992, 984-15, 971-4
Cisco CSR 1000v? csr1000v = 17.03.08a; csr1000v 16.12 = 16.12.03; csr1000v 17.03 = 17.03.08a; csr1000v 17.3 = 17.03.08a; csr1000v universalk9 16.09 = 16.09.05
  csr1000v-universalk9.*-serial.qcow2: 17.03.08a, 17.03.06, 16.12.03, 16.12.01a, 16.09.05, 16.09.01
Cisco Catalyst 8000v? c8000v = 17.15.01a; c8000v 17.09 = 17.09.04a; c8000v 17.04 = 17.04.01b; c8000v 17.06 = 17.06.05; c8000v 17.06.01a = 17.06.01a
  c8000v-universalk9_8G_serial.*.qcow2: 17.15.01a, 17.09.04a, 17.09.01a, 17.06.05, 17.06.01a, 17.04.01b, 17.04.01a
Cisco IOSv? vios = 159-3.m10; vios 159 = 159-3.m10; vios 158 = 158-3.m2; vios 159-3.m9 = 159-3.m9; vios 159-3 = 159-3.m10
  vios-adventerprisek9-m.spa.*.qcow2: 159-3.m10, 159-3.m9, 159-3.m2, 158-3.m2
Cisco Nexus 9000v? nexus9300v64 = 9300v64.10.5.5; nexus9500v64 10.3 = 9500v64.10.3.1; nexus9300v64.10.5 = 9300v64.10.5.5; ~nexus = ambiguous; ~nexus 10.3 = ambiguous
  nexus9500v64.*.qcow2: 10.5.5.M, 10.5.1.F, 10.3.1.F
  nexus9300v64.*.qcow2: 10.5.5.M, 10.5.1.F, 10.3.1.F
Cisco Firepower? firepower management = Center_Virtual-6.2.2-81; firepower 6.2.0 = ambiguous; firepower threat defense = Defense_Virtual-6.2.0-363; firepower management 6.2.1 = 6.2.1-342; firepower = ambiguous
  Cisco_Firepower_Management_Center_Virtual-*.qcow2: 6.2.2-81, 6.2.1-342, 6.2.0-362, 6.1.0-330
  Cisco_Firepower_Threat_Defense_Virtual-*.qcow2: 6.2.0-363, 6.1.0-330
Juniper vSRX 3? vsrx = 23.4R2-S5.5; vsrx 20.4 = 20.4R1.12; vsrx3 23.2 = 23.2R2.21; vsrx 21.2 = 21.2R3-S4.8; vsrx 23.2R1 = 23.2R1-S2.5; vsrx 21.2R1 = 21.2R1.10
  junos-vsrx3-x86-64-*.qcow2: 23.4R2-S5.5, 23.2R2.21, 23.2R1-S2.5, 21.4R3.15, 21.2R3-S4.8, 21.2R1.10, 20.4R1.12, 18.4R3.3
Juniper vSRX, old? vsrx = 17.4R1.16; vsrx 17.3 = 17.3R2.10; vsrx 15.1 = D130.6; vsrx 15.1X49 = D130.6; vsrx vmdisk 15.1X49-D90 = D90.7
  media-vsrx-vmdisk-*.qcow2: 17.4R1.16, 17.3R2.10, 17.3R1.10, 15.1X49-D130.6, 15.1X49-D120.3, 15.1X49-D90.7
Juniper vMX? vmx = 20.2R1.10; vmx 19.4 = 19.4R3-S4.1; vmx 17 = 17.4R1.16; junos-vmx 17.3R2 = 17.3R2.10; vmx 19 = 19.4R3-S4.1
  junos-vmx-x86-64-*.qcow2: 20.2R1.10, 19.4R3-S4.1, 19.3R1.8, 17.4R1.16, 17.3R2.10
Juniper vJunos-router? vjunos = 24.2R1-S2; vjunos 23.4 = 23.4R2-S2.1; vjunos router 23 = 23.4R2-S2.1; vjunos-router-23.2R1 = 23.2R1.15
  vJunos-router-*.qcow2: 24.2R1-S2, 23.4R2-S2.1, 23.2R1.15
Sophos XG? sfos 16.05 = 16.05.4_MR-4.KVM-215-PRIMARY; sfos primary = 17.0.2_MR-2.KVM-116-PRIMARY; sfos 17.0.2 = ambiguous; sfos 16.05.0 = RC-1; ~sophos = ambiguous
  VI-SFOS_*.qcow2: 17.0.2_MR-2.KVM-116-PRIMARY, 16.05.4_MR-4.KVM-215-PRIMARY, 16.05.1_MR-1.KVM-139-PRIMARY, 16.05.0_RC-1.KVM-098-PRIMARY, 17.0.2_MR-2.KVM-116-AUXILARY
pfSense? pfsense = 2.7.2; pfsense 2.4.4 = 2.4.4-RELEASE-p3; pfsense 2.4 = 2.4.5-RELEASE-p1; pfsense 2.7 = 2.7.2; pfsense-ce 2.6 = 2.6.0
  pfSense-CE-*-amd64.iso: 2.7.2-RELEASE, 2.7.0-RELEASE, 2.6.0-RELEASE, 2.4.5-RELEASE-p1, 2.4.4-RELEASE-p3, 2.4.4-RELEASE
OPNsense? opnsense = 26.1; opnsense 25 = 25.7; opnsense 22.1 = 22.1.2; opnsense nano amd64 = 26.1; opnsense 24.7 = 24.7
  OPNsense-*-nano-amd64.img: 26.1, 25.7, 25.1, 24.7, 24.1, 23.1-OpenSSL, 22.1.2-OpenSSL, 21.7.1-OpenSSL
Citrix ADC? nsvpx 13.1 = 13.1-48.47; nsvpx = 13.1-48.47; nsvpx 13.0 = 13.0-88.14; nsvpx-esx 13 = 13.1-48.47; ~citrix adc 13.0 = 13.0-88.14
  NSVPX-ESX-*_nc_64.ova: 13.1-48.47, 13.1-24.38, 13.0-88.14, 13.0-84.11
Infoblox NIOS? nios = 8.6.2; nios 8.4 = 8.4.4; nios ddi 8.2 = 8.2.0; ~infoblox = 8.6.2; nios 8 = 8.6.2
  nios-*-ddi.ova: 8.6.2-49947-c076923293a0-2022-06-10-09-59-58, 8.4.4-386831-2019-08-02-03-45-48, 8.2.0-358074-2017-07-05-15-01-39
Arista vEOS? veos = 4.35.3F; veos 4.32 = 4.32.4.1M; veos64 4.31 = 4.31.6M; veos lab 4.33.2F = 4.33.2F; veos64-lab-4 = 4.35.3F
  vEOS64-lab-*.qcow2: 4.35.3F, 4.33.2F, 4.32.4.1M, 4.31.6M
vCenter appliance? vcenter = 8.0.2; vcenter 7.0 = 01400; vcenter 7.0.3 = 01400; vcenter server appliance 8 = 8.0.2; ~vcenter 7.0U3 = 01400
  VMware-vCenter-Server-Appliance-*_OVF10.ova: 8.0.2.00100-22617221, 7.0.3.01400-21477706, 7.0.3.00700-20051473, 7.0.3.00100-18778458
vCenter ISO? vcsa = 8.0.0; vcsa 7 = 23788036; vcsa 7.0.1 = 17004997; vcsa 7.0.3 = 23788036; vcsa 7.0.3-21477706 = 21477706
  VMware-VCSA-all-*.iso: 8.0.0-20519528, 7.0.3-23788036, 7.0.3-21477706, 7.0.3-18778458, 7.0.1-17004997, 7.0.1-16860138, 7.0.0-15952498
ESXi installer? vmvisor 7.0U3 = U3n; vmvisor 7.0U3d = U3d; vmvisor 7.0U1 = U1; ~vmvisor 7.0 = U3n; ~esxi 7.0U3 = U3n; vmvisor installer 7.0.0 = 7.0.0
  VMware-VMvisor-Installer-*.x86_64.iso: 7.0U3n-21930508, 7.0U3g-20328353, 7.0U3d-19482537, 7.0U3-18644231, 7.0U1-16850804, 7.0.0-15843807
Nested ESXi? esxi 7.0U3 = u3q; esxi7.0 = u3q; nested esxi = 8.0u2c; esxi 8 = 8.0u2c; esxi 7.0u3c = u3c; esxi 6.5 = 6.5u1
  Nested_ESXi*_Appliance_Template_v1.ova: 8.0u2c, 7.0u3q, 7.0u3g, 7.0u3c, 7.0u3, 6.5u1
NSX? nsx = ambiguous; nsx unified = 4.2.1.3.0; nsx edge = edge-3.0.0; nsx-edge 2.5 = edge-2.5.2.2; nsx 4.2 = 4.2.1.3.0; nsx unified appliance 3 = 3.2.1.0.0
  nsx-unified-appliance-*.ova: 4.2.1.3.0.24533887, 4.1.2.1.0.22667794, 3.2.1.0.0.19801963, 3.0.0.0.0.15946739
  nsx-edge-*.ova: 3.0.0.0.0.15946012, 2.5.2.2.0.17003662
NSX for vSphere? nsx manager = 6.4.13; nsx 6.4 = 6.4.13; nsx 6.4.1 = 6.4.1-; vmware nsx = 6.4.13; nsx-manager-6.4.9 = 6.4.9
  VMware-NSX-Manager-*.ova: 6.4.13-19307994, 6.4.10-17626462, 6.4.9-17267008, 6.4.6-14819921, 6.4.1-8599035
vRealize? vrealize operations = 8.18.7; vrealize = ambiguous; vrealize log insight = Insight; vrealize operations 8.14 = 8.14.0.22610776; vrealize 8.6 = 8.6.3.19682901; ~vrops = 8.18.7
  vRealize-Operations-Manager-Appliance-*.ova: 8.18.7.25423534, 8.16.1.23365475, 8.14.0.22610776, 8.6.3.19682901_OVF10, 8.6.1.18985958_OVF10, 8.3.0.17665806_OVF10
  VMware-vRealize-Log-Insight-8.14.0.0-22564181.ova
Avi controller? controller = 22.1.7-9093; controller 22.1 = 22.1.7-9093; controller 22 = 22.1.7-9093; controller-22.1.2 = 22.1.2-9086; ~controller 21.1.4 = 2p3; ~avi = 22.1.7-9093
  controller-*.ova: 22.1.7-9093, 22.1.6-9191, 22.1.5-9093, 22.1.3-9096, 22.1.2-9086, 21.1.4-2p3-9009, 21.1.4-9210
Zabbix? zabbix = 6.4.18; zabbix 6.2 = 6.2.7; zabbix 6.4 = 6.4.18; zabbix_appliance-6.4.10 = 6.4.10; zabbix appliance 6 = 6.4.18
  zabbix_appliance-*.qcow2: 6.4.18, 6.4.14, 6.4.10, 6.2.7
Bitnami WordPress? wordpress = 6.5.3-4; wordpress 6.2 = 6.2.2-5; bitnami wordpress debian-11 = 6.2.2-5; wordpress 6.1.1 = 6.1.1-53; bitnami wordpress 6 = 6.5.3-4
  bitnami-wordpress-*-x86_64-nami.ova: 6.5.3-4-r04-linux-vm-debian-12, 6.2.2-5-r05-linux-vm-debian-11, 6.1.1-53-r54-linux-vm-debian-11, 6.0.2-0-linux-vm-debian-11
Bitnami stacks? bitnami grafana = grafana; bitnami lampstack = lampstack; bitnami = ambiguous; bitnami debian 11 = ambiguous; bitnami gitlab 12 = 12.9.2; gitlab = 12.9.2
  bitnami-grafana-9.1.2-0-linux-vm-debian-11-x86_64-nami.ova
  bitnami-lampstack-8.2.1-1-r01-linux-vm-debian-11-x86_64-nami.ova
  bitnami-gitlab-12.9.2-0-linux-debian-9-x86_64.zip
TurnKey Linux? turnkey wordpress = 19.0; turnkey gitlab 17 = gitlab-17.1; turnkey 17.1 = ambiguous; turnkey wordpress 14 = wordpress-14.2; turnkey nextcloud = nextcloud-17.1; turnkey bookworm = wordpress-18.0
  turnkey-wordpress-*-amd64.ova: 19.0-trixie, 18.0-bookworm, 17.1-bullseye, 14.2-jessie
  turnkey-nextcloud-17.1-bullseye-amd64.ova
  turnkey-gitlab-17.1-bullseye-amd64.ova
TrueNAS SCALE? truenas scale 24.10 = 24.10.2; truenas 24.04 = 24.04.2.2; truenas = 24.10.2; truenas beta = BETA.1; truenas scale 23 = 23.10.2
  TrueNAS-SCALE-*.iso: 24.10.2, 24.10-BETA.1, 24.04.2.2, 23.10.2
TrueNAS CORE? truenas 13.0 = 13.0-U6.2; truenas 13 = 13.3-RELEASE; truenas = 13.3-RELEASE; truenas 12.0 = 12.0-U8.1; truenas-13.0-U5 = 13.0-U5.3
  TrueNAS-*.iso: 13.3-RELEASE, 13.0-U6.2, 13.0-U5.3, 13.0-RELEASE, 12.0-U8.1
FreeNAS? freenas = 11.2-U6; freenas 11.2 = 11.2-U6; freenas 11.1 = 11.1-U6; freenas 9 = 9.10.1-U4; freenas 11.1 release = 11.1-RELEASE
  FreeNAS-*.iso: 11.2-U6, 11.2-U3, 11.2-RELEASE, 11.1-U6, 11.1-U4, 11.1-RELEASE, 9.10.1-U4
Proxmox? proxmox-ve = 8.4-1; proxmox ve 8.1 = 8.1-2; proxmox = ambiguous; proxmox mailgateway = 5.1-1; proxmox-ve_8 = 8.4-1; proxmox ve 8.3 = 8.3-1
  proxmox-ve_*.iso: 8.4-1, 8.3-1, 8.2-1, 8.1-2, 8.1-1
  proxmox-mailgateway_*.iso: 5.1-1, 4.1-5
oVirt engine? ovirt = 4.5; ovirt 4.3 = 4.3-20200127; ovirt engine 4.2 = 4.2-20190121; ovirt-engine-appliance-4.1 = 4.1-20170201; ovirt el7 = 4.3-20200127
  ovirt-engine-appliance-*.ova: 4.5-20240131072037.1.el9, 4.3-20200127.1.el7, 4.3-20190926.1.el7, 4.2-20190121.1.el7, 4.1-20170201.1.el7.centos
XCP-ng? xcp-ng = 8.3.0-20260806; xcp-ng 8.2 = 8.2.1-20231130; xcp-ng 8.2.1 = 8.2.1-20231130; xcp-ng-8.2.0 = 8.2.0; xcp 8 = 8.3.0-20260806
  xcp-ng-*.iso: 8.3.0-20260806, 8.2.1-20231130, 8.2.1, 8.2.0
Harvester? harvester 1.7 = 1.7.1; harvester v1.8 = 1.8.2; harvester 1.9 = 1.9.0-rc3; harvester = ambiguous; harvester v1.1 = 1.1.1
  harvester-v*-amd64.iso: 1.9.0-rc3, 1.8.2, 1.7.1, 1.7.0, 1.4.0, 1.1.1
RancherOS? rancheros = 1.5.8; rancheros 1.4 = 1.4.3; rancheros v1.5 = 1.5.8; rancheros 1.5.6 = 1.5.6
  rancheros-v*.iso: 1.5.8, 1.5.6, 1.5.2, 1.5.1, 1.4.3
k3OS? k3os = v0.21.5-k3s2r1; k3os 0.20 = v0.20.7; k3os v0.11 = v0.11.1; k3os 0.21.5 = v0.21.5-k3s2r1
  k3os-*-amd64.iso: v0.21.5-k3s2r1, v0.21.1-k3s1r0, v0.20.7-k3s1r0, v0.20.6-k3s1r0, v0.11.1
Cluster API on Ubuntu? ubuntu 2204 = 2204 1.32.0; ubuntu2204 = 2204 1.32.0; kube 1.29 = 2204 1.29.3; ubuntu 2004 kube = 2004 1.28.0; ubuntu kube v1.30 = 2204 1.30.0; ~ubuntu 22.04 = 2204 1.32.0
  ubuntu-*-kube-v*.ova: 2204 1.32.0, 2204 1.31.4, 2204 1.30.0, 2204 1.29.3, 2204 1.29.0, 2204 1.28.0, 2004 1.28.0, 2004 1.26.2
Cluster API on Photon? photon 5 kube = 5 1.33.9; photon kube 1.33 = 5 1.33.9; photon 3 = 3 1.23.16; photon kube = 5 1.33.9; photon-5-kube-v1.31 = 5 1.31.9
  photon-*-kube-v*.ova: 5 1.33.9, 5 1.33.0, 5 1.31.9, 5 1.30.1, 3 1.23.16, 3 1.22.8
Cluster API on RHEL 8? rhel 8 kube = 1.30.5; rhel8 = 1.30.5; rhel kube v1.28 = 1.28.9; rhel-8-kube-v1.27 = 1.27.11; kube 1.30 = 1.30.5
  rhel-8-kube-v*.ova: 1.30.5, 1.28.9, 1.27.11, 1.22.9
Tanzu node images? photon kube 1.26 = 1.26.8; tkg = ambiguous; photon tkg = 1.27.5; ubuntu 2004 kube = 1.23.8; ubuntu kube 1.22 = 1.22.9; kube v1.25.13 = 1.25.13
  photon-3-kube-v*.ova: 1.27.5+vmware.1-tkg.1-cac282289bb29b217b808a2b9b0c0c46, 1.26.8+vmware.1-tkg.1-5bfc988c8b83d44a96a079cdcda95c97, 1.25.13+vmware.1-tkg.1-90474fbeb493aec5c7f4911529f71225
  ubuntu-2004-kube-v*.ova: 1.23.8+vmware.2-tkg.1-85a434f93857371fccb566a414462981, 1.22.9+vmware.1-tkg.1-2182cbabee08edf480ee9bc5866d6933
Tanzu releases? photon k8s 1.22 = 1.22.9; photon k8s = 1.22.9; photon 3 k8s v1.20 = 1.20.7; k8s 1.16 = 1.16.8; k8s 1.20.2 = 1.20.2
  ob-*-photon-3-k8s-v*: 19930037 1.22.9---vmware.1-tkg.1.cc71bc8, 18186591 1.20.7---vmware.1-tkg.1.7fb9067, 17861429 1.20.2---vmware.1-tkg.1.1d4f79a, 15957779 1.16.8---vmware.1-tkg.3.60d2ffd
Red Hat CoreOS? rhcos = 4.16.36; rhcos 4.15 = 4.15.23; rhcos 4.6 = 4.6.8; rhcos 4 = 4.16.36; ~openshift 4.11 = 4.11.9
  rhcos-*-x86_64-vmware.x86_64.ova: 4.16.36, 4.15.23, 4.11.9, 4.6.8, 4.5.2, 4.4.3
RHEL KVM? rhel = 10.1; rhel 9 = 9.7; rhel8 = 8.10; rhel 8.10 = 8.10; rhel server 7.9 = 7.9; rhel-8 = 8.10; rhel 9.4 = 9.4
  rhel-*-x86_64-kvm.qcow2: 10.1, 10.0, 9.7, 9.4, 8.10, 8.8, server-7.9-update-12
Oracle Linux KVM? ol9 = 9U7_x86_64-kvm-b289; ol8 = OL8U10; ol kvm = 10U1_x86_64-kvm-b291; OL8U9 = 8U9_x86_64-kvm-b219; ~oracle linux 8 = OL8U10; ol9u5 = OL9U5
  OL*.qcow2: 10U1_x86_64-kvm-b291, 10U1_x86_64-kvm-b270, 9U7_x86_64-kvm-b289, 9U7_x86_64-kvm-b269, 9U5_x86_64-kvm-b259, 8U10_x86_64-kvm-b271, 8U9_x86_64-kvm-b219, 8U9_x86_64-kvm-b217, 7U9_x86_64-kvm-b257
Oracle Linux ISO? oraclelinux 9 = R9-U4; oracle linux 8 = R8-U10; oraclelinux = R9-U4; OracleLinux-R7 = R7-U9; oracle r9 u3 = R9-U3
  OracleLinux-*-x86_64-dvd.iso: R9-U4, R9-U3, R8-U10, R8-U9, R7-U9
Home Assistant OS? haos = 18.3; haos 14 = 14.2; haos_ova 10 = 10.5; haos 13.1 = 13.1; ~home assistant = 18.3
  haos_ova-*.qcow2: 18.3, 17.1, 16.3, 14.2, 14.0, 13.1, 10.5, 10.1
MikroTik CHR? chr = 7.22.1; chr 6.49 = 6.49.17; chr 6 = 6.49.17; chr 7.16 = 7.16; ~routeros = 7.22.1; chr-7.15 = 7.15.3
  chr-*.img: 7.22.1, 7.20.8, 7.16, 7.15.3, 6.49.17, 6.49.13
OpenWrt? openwrt = 25.12.0; openwrt 21.02 = 21.02.3; openwrt 19.07 = 19.07.8; openwrt x86-64 24.10 = 24.10.2; openwrt 23 = 23.05.0
  openwrt-*.img: 25.12.0-x86-64-generic-ext4-combined, 24.10.2-x86-64-generic-ext4-combined, 23.05.0-x86-64-generic-ext4-combined, 21.02.3-x86-64-generic-ext4-combined, 21.02.0-x86-64-generic-ext4-combined, 19.07.8-x86-64-combined-ext4
Cumulus VX? cumulus = 5.4.0; cumulus 3.7 = 3.7.10; cumulus linux 4 = 4.3.0; cumulus 3.6 = 3.6.2; cumulus vx 5.3 = 5.3.1
  cumulus-linux-*.qcow2: 5.4.0-vx-amd64-qemu, 5.3.1-vx-amd64-qemu, 4.3.0-vx-amd64-qemu, 3.7.10-vx-amd64-qemu, 3.7.6-vx-amd64-qemu, 3.6.2-vx-amd64
Security Onion? ~securityonion = 2.4.80; securityonion 2.4 = 2.4.80; securityonion 16.04 = 16.04.7.1; securityonion 14 = 14.04.5.4
  securityonion-*.iso: 2.4.80-20240624, 16.04.7.1, 16.04.6.1, 14.04.5.4
IPFire? ipfire = core136; ipfire core 129 = core129; ipfire 2.21 = core129; ipfire core131 = core131
  ipfire-*.img: 2.23.2gb-ext4.x86_64-full-core136, 2.23.2gb-ext4.x86_64-full-core131, 2.21.2gb-ext4.x86_64-full-core129, 2.21.2gb-ext4.x86_64-full-core124
Windows installation media? windows 11 = 25h2; windows server 2022 = server_2022; windows 10 22h2 = feb_2023; windows = ambiguous; windows 10 consumer = feb_2023
  en-us_windows_*.iso: 11_business_editions_version_25h2_updated_feb_2026_x64_dvd_9271bf68, 10_consumer_editions_version_22h2_updated_feb_2023_x64_dvd_c29e4bb3, 10_consumer_editions_version_22h2_x64_dvd_8da72ab3, server_2022_updated_june_2024_x64_dvd_8c5a802d
Windows 10 templates? win10 21H2 = 21H2; win10 1909 = 1909; ~win10 = 22H2; win10 1809 = 1809; win10 22h2 = 22H2
  win10-*.ova: 22H2, 21H2, 1909, 1809
Windows 11 templates? win11 = 24H2; win11 23h2 = 23H2; win11-22H2 = 22H2; win11 ent = 24H2
  win11-*-ent.ova: 24H2, 23H2, 22H2, 21H2
Windows Server templates by month? ws2022 = 2022-std-2025-01; ws 2019 = 2019-std-2024-11; ws2022 2024 = 2022-std-2024-12; ws2016 = 2016-std-2023-10; ws std = 2022-std-2025-01
  ws*.ova: 2022-std-2025-01, 2022-std-2024-12, 2019-std-2024-11, 2016-std-2023-10
Company template with ISO dates? rhel9 template = 2024-11-05; rhel9 = 2024-11-05; rhel9 2024-10 = 2024-10-01; rhel9 2023 = 2023-12-31; rhel9 template 2024 = 2024-11-05
  rhel9-template-*.ova: 2024-11-05, 2024-10-01, 2023-12-31
Company template with compact dates and builds? web base = 20250110.2; web base 20241201 = 20241201.11; web-base-20250110 = 20250110.2; web base 2024 = 20241201.11
  web-base-*.ova: 20250110.2, 20250110.1, 20241201.11, 20241201.9
German dates? debian12 vorlage = 01.03.2025; vorlage = 01.03.2025; debian12 15.11.2024 = 15.11.2024; vorlage 2024 = 15.11.2024
  debian12-vorlage-*.ova: 01.03.2025, 15.11.2024, 02.01.2024
German dates, day and month open? win2022 = ambiguous; win2022 11.2.2024 = 11.2.2024; win2022 vorlage 3.12.2024 = 3.12.2024
  win2022-vorlage-*.ova: 3.12.2024, 11.2.2024
UK dates? sql-server = 28-02-2025; sql server 31-01-2025 = 31-01-2025; sql = 28-02-2025
  sql-server-*.ova: 28-02-2025, 31-01-2025, 30-11-2024
US dates? golden win = 01-14-2025; golden win 12-10-2024 = 12-10-2024; golden = 01-14-2025
  golden-win-*.ova: 01-14-2025, 12-10-2024, 11-19-2024
Dates without separators, year last? webtpl = 01032025; webtpl 15112024 = 15112024; webtpl_02012024 = 02012024
  webtpl_*.ova: 01032025, 15112024, 02012024
Month and year? gold image = 3-2025; gold 2024 = 11-2024; gold image 12-2023 = 12-2023
  gold-image-*.ova: 3-2025, 11-2024, 12-2023
Two-digit years, year last? ~app tpl = 15.03.25; app 20.11.24 = 20.11.24; app tpl 15.03.25 = 15.03.25
  app-tpl-*.ova: 15.03.25, 20.11.24, 28.02.24
Names of months? ~rhel8 base = 2024-Mar; rhel8 base dec = 2023-Dec; rhel8 2024 = 2024-Mar; rhel8 base nov = 2023-Nov
  rhel8-base-*.ova: 2024-Mar, 2023-Dec, 2023-Nov
Builds of a pipeline? golden centos = #1034; golden centos 998 = #998; golden centos #97 = #97
  golden-centos-build-*.ova: #1034, #998, #97
Names of git describe? appliance 2.4 = 2.4.0-12-g3f2a1bc; appliance = 2.4.0-12-g3f2a1bc; appliance 2.3 = 2.3.1-40; appliance 9e107d9 = 9e107d9; appliance v2.4.0 = 2.4.0-12-g3f2a1bc
  appliance-v*.ova: 2.4.0-12-g3f2a1bc, 2.4.0-3-g9e107d9, 2.4.0, 2.3.1-40-gd41d8cd
Packer timestamps? packer ubuntu = 1714642800; packer ubuntu 2204 = 1714642800; packer-ubuntu-2204-1709254800 = 1709254800; packer 2404 = none
  packer-ubuntu-2204-*.ova: 1714642800, 1709254800, 1699254800
Preview and release? web = ambiguous; web 2.0 = 2.0.0; web 2.1 = 2.1.0-rc.2; web 1.9 = 1.9.4; web beta = beta.3
  web-*.ova: 2.1.0-rc.2, 2.1.0-beta.3, 2.0.0, 2.0.0-rc.1, 1.9.4
Versions run together? rhel94 = 94; rhel810 = 810; ~rhel = 94
  rhel*-base.ova: 94, 810, 79
Cisco Catalyst 9800? c9800 = 17.12.02; c9800-cl 17.9 = 17.09.04a; c9800 17.12 = 17.12.02; c9800 17.12.02 = 17.12.02; c9800 17.9.4a = 17.09.04a; c9800-cl universalk9 17.6 = 17.06.06
  C9800-CL-universalk9.*.ova: 17.12.02, 17.12.01, 17.09.04a, 17.09.04, 17.06.06
Cisco vWLC? ctvm 8.10 = 8_10_196_0; mfg ctvm = 8_10_196_0; ctvm 8.5 = 8_5_182_0; ctvm 8_3_102 = 8_3_102_0; ctvm 8 = 8_10_196_0
  MFG_CTVM_*.iso: 8_10_196_0, 8_5_182_0, 8_3_102_0, 8_2_141_0
Infix? infix 26 = 26.06.0; infix v26.2 = 26.02.1; infix 26.5 = 26.05.0; infix x86_64 = 26.06.0; infix = 26.06.0
  infix-x86_64-v*.qcow2: 26.06.0, 26.05.0, 26.03.0, 26.02.1
Clavister? clavister = 14.00.13.08; clavister 14.00.01 = 14.00.01.13; clavister cos core 14 = 14.00.13.08; clavister 14.0.1 = 14.00.01.13
  clavister-cos-core-*-kvm-en.img: 14.00.13.08, 14.00.01.13, 14.00.00.12
FortiAnalyzer? faz = 7.4.6.M; faz 7.4 = 7.4.6.M; faz v7.2 = 7.2.5; faz 7.4.4 = 7.4.4.F; faz_vm64_kvm = 7.4.6.M; faz build2308 = 7.4.1
  FAZ_VM64_KVM-v*-FORTINET.out.kvm.qcow2: 7.4.6.M-build2588, 7.4.5.M-build2553, 7.4.4.F-build2550, 7.4.1-build2308, 7.2.5-build1574, 7.2.4-build1460
Pulse Secure? psa-v = 9.1R18.2-b25623; psa 9.1R15 = 9.1R15.0; psa-v 9.1 = 9.1R18.2-b25623; pcs 9.1R14 = 9.1R14.0; psa pcs = 9.1R18.2-b25623
  PSA-V-VMWARE-PCS-*.ova: 9.1R18.2-b25623, 9.1R18.0-b21801, 9.1R15.0-b15819, 9.1R14.0-b13525
Univention? ucs = 5.0-6; ucs vmware = 5.0-6; ucs 5.0-5 = 5.0-5; ucs 4.4 = 4.4-9; ucs 5 = 5.0-6
  UCS-VMware-Image-*.ova: 5.0-6, 5.0-5, 4.4-9
EKS nodes? eks 1.29 = 1.29-v20240202; eks node = 1.29-v20240202; amazon eks node 1.28 = 1.28-v20240202; eks 1.29 20240117 = 1.29-v20240117; amazon-eks-node = 1.29-v20240202; eks node 1.27 = none
  amazon-eks-node-*.ova: 1.29-v20240202, 1.29-v20240129, 1.29-v20240117, 1.28-v20240202, 1.28-v20240110
SUSE AMIs? sles 15 = sp5-v20240129; sles 15 sp4 = sp4-v20240129; suse sles15 sp5 = sp5-v20240129; suse = sp5-v20240129; sles sp5 20231215 = 20231215
  suse-sles-15-*-hvm-ssd-x86_64.ova: sp5-v20240129, sp5-v20231215, sp4-v20240129, sp4-v20231113
Bottlerocket AMIs? bottlerocket 1.29 = 64049ba8; bottlerocket aws 1.28 = 1.28-x86_64-v1.19.1-c325a08b; bottlerocket k8s = 64049ba8; bottlerocket 1.29 v1.18 = 7452c37e; bottlerocket aws = 64049ba8
  bottlerocket-aws-k8s-*.ova: 1.29-x86_64-v1.19.1-64049ba8, 1.29-x86_64-v1.18.0-7452c37e, 1.28-x86_64-v1.19.1-c325a08b
Container-Optimized OS? cos = 113-18244-1-2; cos 109 = 109-17800-66-78; cos 109 17800-66-32 = 109-17800-66-32; cos-105 = 105-17412-226-68; cos stable = none
  cos-*.ova: 113-18244-1-2, 109-17800-66-78, 109-17800-66-32, 105-17412-226-68
Oracle Cloud? oracle linux 9 = Oracle-Linux-9.3-2024.01.26-0; oracle linux = Oracle-Linux-9.3-2024.01.26-0; oracle linux 8 = Oracle-Linux-8.9-2024.01.26-0; oracle-linux-8.9 2023 = Oracle-Linux-8.9-2023.12.08-0; oracle linux 7.9 = 7.9-2024.01.26; oracle 9.3 = Oracle-Linux-9.3-2024.01.26-0
  Oracle-Linux-*.ova: 9.3-2024.01.26-0, 9.3-2023.12.08-0, 8.9-2024.01.26-0, 8.9-2023.12.08-0, 7.9-2024.01.26-0
IBM Cloud? ibm ubuntu 22.04 = 22-04-4-minimal-amd64-1; ibm ubuntu = 22-04-4-minimal-amd64-1; ibm ubuntu 20-04 = 20-04-6-minimal-amd64-5; ibm ubuntu 22.04.3 = 22-04-3-minimal-amd64-2; ibm minimal amd64 = 22-04-4-minimal-amd64-1
  ibm-ubuntu-*.ova: 22-04-4-minimal-amd64-1, 22-04-3-minimal-amd64-2, 22-04-3-minimal-amd64-1, 20-04-6-minimal-amd64-5, 20-04-6-minimal-amd64-4
Azure AKS nodes? aksubuntu = 202402.07.0; aks ubuntu 2204 = 202402.07.0; aksubuntu 2204 202401.17 = 202401.17.1; aks gen2 containerd = 202402.07.0; aks containerd = 202402.07.0
  AKSUbuntu-2204gen2containerd-*.ova: 202402.07.0, 202401.17.1, 202401.09.0, 202312.06.0
Garden Linux? gardenlinux = 1443.3-5a2c1de9; gardenlinux 1312 = 1312.3-7d5a3c4b; garden linux openstack = 1443.3-5a2c1de9; gardenlinux 1443 = 1443.3-5a2c1de9; gardenlinux 934.11 = 934.11
  gardenlinux-openstack-gardener_prod-amd64-*.qcow2: 1443.3-5a2c1de9, 1312.3-7d5a3c4b, 1312.2-cc2bfd30, 934.11-8cd3ab21
minikube? minikube = ambiguous; minikube 1.32 = 1.32.1; minikube v1.31 = 1.31.0; minikube 1.33 = beta.0; minikube 1.33.0-beta.0 = beta.0
  minikube-v*-amd64.iso: 1.33.0-beta.0, 1.32.1, 1.32.0, 1.31.0
Kairos? kairos = 3.0.4-k3sv1.29.3; kairos ubuntu 24.04 = 3.0.4-k3sv1.29.3; kairos v2.5 = 2.5.0; kairos k3s = 3.0.4-k3sv1.29.3; kairos v3.0.4 = 3.0.4-k3sv1.29.3
  kairos-ubuntu-24.04-standard-amd64-generic-v*.iso: 3.0.4-k3sv1.29.3, 3.0.1-k3sv1.28.7, 2.5.0-k3sv1.28.2
Jenkins agents with instants? jenkins agent = 20240131T101500Z; jenkins = 20240131T101500Z; jenkins-agent 20240131 = 20240131T101500Z; jenkins agent 20240115 = 20240115T093000Z
  jenkins-agent-*.ova: 20240131T101500Z, 20240131T081500Z, 20240115T093000Z
Undated beside dated? proxy = ambiguous; proxy 20240115 = 20240115; proxy vm 20231001 = 20231001
  proxy-vm-*.ova: 20240115, 20231001
  proxy-vm.ova
K8s and k3s? edge k8s = k8s-1.29.2; edge k3s = k3s-1.28.7; edge = ambiguous; edge k8s 1.28 = k8s-1.28.6; edge 1.28 = ambiguous
  edge-*.ova: k8s-1.29.2, k8s-1.28.6, k3s-1.28.7, k3s-1.27.1
Flavours of one size? runner = ambiguous; runner 8c16g = 8c16g; runner 4c8g = 4c8g; runner 4 = none
  runner-*.ova: 8c16g, 4c8g
Fiscal quarters? golden fy = ambiguous; golden rhel9 = ambiguous; golden q4fy23 = q4fy23; golden rhel9 q1fy24 = q1fy24
  golden-rhel9-*.ova: q1fy24, q4fy23, q3fy23
Weekly builds, year last? base = ambiguous; base kw52 = kw52-23; base-kw02-24 = kw02-24
  base-*.ova: kw02-24, kw52-23, kw40-23
Department builds? cad = cad2024; lab cad = cad2024; lab cad2023 = cad2023; lab cad 2022 = cad2022
  lab-*.ova: cad2024, cad2023, cad2022
Build letters and dates? web = b20240601; web b20240115 = b20240115; web-b20231201 = b20231201; web 2024 = b20240601
  web-*.ova: b20240601, b20240115, b20231201
Builds that grow? ci = 10000; ci build 999 = 999; ci-build = 10000; ci build 1001 = 1001
  ci-build-*.ova: 10000, 9999, 1001, 999, 98
Hotfixes? crm 5.2 = 5.2.1-hotfix2; crm = 5.2.1-hotfix2; crm 5.2.0 = 5.2.0; crm appliance 5.1 = 5.1.3-hotfix4
  crm-appliance-*.ova: 5.2.1-hotfix2, 5.2.1, 5.2.0, 5.1.3-hotfix4
Cumulative updates and the first? exchange = 2019-cu14; exchange 2019 = 2019-cu14; exchange 2016 = 2016-cu23; exchange 2019 cu13 = 2019-cu13
  exchange-*.ova: 2019-cu14, 2019-cu13, 2019, 2016-cu23
Milestones of Tomcat images? tomcat = ambiguous; tomcat 10.1 = 10.1.24; tomcat 11 = 11.0.0-M20; tomcat 9 = 9.0.89; tomcat 10 = 10.1.24
  tomcat-*.ova: 11.0.0-M20, 10.1.24, 10.1.19, 9.0.89
Zabbix betas? zbx = ambiguous; zbx 6.0 = 6.0.11; zbx 6.1 = 6.1.0a3; zbx-appliance 5 = 5.4.9
  zbx-appliance-*.ova: 6.1.0a3, 6.0.11, 6.0.9, 5.4.9
German semesters? os-lab = ambiguous; os-lab ws = WS2324; os-lab ss = SS24; os lab SS23 = SS23
  os-lab-*.ova: SS24, WS2324, SS23, WS2223
Academic years? comp3000 = 2024-25; comp3000 2023-24 = 2023-24; comp3000 2022 = 2022-23; comp3000 vm = none
  comp3000-*.ova: 2024-25, 2023-24, 2022-23`
    .split(/\n(?! )/)
    .map((block) => {
      const [head = '', ...rows] = block.split('\n  ');
      const [title = '', questions = ''] = head.split('? ');
      const series = rows.map(parseLine);
      const values = series.flatMap((line) => line.values);
      const lines = series.map(({ pattern, names }) => [pattern, names] as const);
      const names = series.flatMap((line) => line.names);
      const parse = (text: string) => parseQuestion(text, names, values);
      return { title, lines, names, questions: questions.split('; ').map(parse) };
    });

function parseLine(line: string) {
  const [pattern = '', list = ''] = line.split(': ');
  const values = list.split(', ');
  const nameOf = (rest: string[]) => pattern.replace(/\*/g, () => rest.shift() ?? '');
  const isOne = pattern.split('*').length === 2;
  const names = values.map((value) => nameOf(isOne ? [value] : value.split(' ')));
  return { pattern, values, names };
}

function parseQuestion(text: string, names: readonly string[], values: readonly string[]) {
  const [typed = '', answer = ''] = text.replace('~', '').split(' = ');
  const seen = !text.startsWith('~');
  if (answer === 'ambiguous' || answer === 'none') return { typed, answer, seen };
  const exact = names.filter((_, index) => values[index] === answer);
  const found = exact.length > 0 ? exact : names.filter((each) => each.includes(answer));
  const [name, ...others] = found;
  if (name === undefined || others.length > 0) throw new Error(`not one name: ${text}`);
  return { typed, answer: name, seen };
}

/** All names of the distributions. */
export const PUBLISHED = [...new Set(FAMILIES.slice(0, 22).flatMap(({ names }) => names))];
