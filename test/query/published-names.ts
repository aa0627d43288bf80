// File names that twelve distributions published, over several releases.

/** One series per line: its names, and their numbers from the newest on. */
export const SERIES = `ubuntu-#-server-cloudimg-amd64.img: 26.04, 25.10, 24.10, 24.04, 22.04, 18.04
debian-#-genericcloud-amd64-#.qcow2: 13 20250911-2232, 12 20260712-2537, 12 20250115-1993, 11 20260707-2532
AlmaLinux-8-GenericCloud-#.x86_64.qcow2: 8.10-20260518, 8.10-20240530, 8.9-20231128, 8.6-20220513
AlmaLinux-10-GenericCloud-#.x86_64.qcow2: 10.2-20260526.0, 10.1-20260414.0, 10.0-20250528.0
Rocky-#-GenericCloud-Base-#.x86_64.qcow2: 10 10.0-20250609.1, 9 9.8-20260525.0, 9 9.4-20240609.1, 9 9.4-20240523.0, 8 8.10-20240528.0, 8 8.9-20231119.0
CentOS-Stream-GenericCloud-#.x86_64.qcow2: 10-20241216.0, 9-20260714.1, 9-20230807.1, 9-20230720.0, 8-20240429.0
centos-7-kube-v#.ova: 1.23.5, 1.20.1, 1.15.10, 1.15.6, 1.13.9
CentOS-#-x86_64.ova: 8.4.2105, 8.3.2011, 8.2.2004, 7.9.2009, 7.6.1810
windows-server-#-#.ova: 2022 20240415, 2022 20230116, 2019 20240312, 2019 20221010
Fedora-Cloud-Base-#.x86_64.qcow2: 39-1.5, 38-1.6, 37-1.7, 34-1.2
openSUSE-Leap-#-Minimal-VM.x86_64-Cloud.qcow2: 15.6, 15.5
openSUSE-Leap-15.0-OpenStack.x86_64-0.0.4-Buildlp#.qcow2: 150.12.140, 150.12.80, 150.12.12
SLES15-SP#-Minimal-VM.x86_64-Cloud-GM.qcow2: 7, 6, 5
photon-3-kube-v#.ova: 1.23.16, 1.23.15, 1.22.8, 1.15.10, 1.15.6
FreeBSD-#-RELEASE-amd64.vmdk.xz: 14.0, 13.1, 13.0, 12.1, 11.4
flatcar-stable-#-kube-v#.ova: 3815.2.2 1.30.0, 3602.2.3 1.29.0, 3510.2.6 1.28.0, 3374.2.5 1.24.11, 3374.2.4 1.25.6
amzn2-vmware_esx-#-x86_64.xfs.gpt.ova: 2.0.20240916.0, 2.0.20230119.1, 2.0.20210813.1, 2.0.20200617.0
al2023-kvm-#-kernel-6.1-x86_64.xfs.gpt.qcow2: 2023.11.20260406.2, 2023.10.20260216.1, 2023.5.20240805.0
openSUSE-Leap-#-DVD-x86_64.iso: 42.3, 15.0`
  .split('\n')
  .map((line): [pattern: string, names: string[]] => {
    const [pattern = '', numbers = ''] = line.split(': ');
    const nameOf = (rest: string[]) => pattern.replace(/#/g, () => rest.shift() ?? '');
    return [pattern, numbers.split(', ').map((each) => nameOf(each.split(' ')))];
  });

/** Names of several series: the newest of each is marked with *. */
export const MIXED =
  `*debian-12-genericcloud-amd64-20260615-2510.qcow2 *debian-12-genericcloud-amd64.qcow2
debian-12-nocloud-amd64-20260615-2510.qcow2 *debian-12-nocloud-amd64-20260712-2537.qcow2
SLES15-SP5-Minimal-VM.x86_64-Cloud-QU4.qcow2 *SLES15-SP6-Minimal-VM.x86_64-Cloud-QU2.qcow2
*SLES15-SP7-Minimal-VM.x86_64-Cloud-GM.qcow2
*photon-hw13_uefi-3.0-a383732.ova *photon-hw13_uefi-3.0-26156e2.ova`.split(/\s/);

export const MIXED_NAMES = MIXED.map((name) => name.replace('*', ''));

export const PUBLISHED = [...new Set([...SERIES.flatMap(([, names]) => names), ...MIXED_NAMES])];
