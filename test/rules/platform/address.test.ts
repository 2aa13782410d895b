import { expect, test } from 'vitest'
import { neighbourhoodOf } from '../../../platform/caller/address.ts'

test.each<[written: string, neighbourhood: string]>([
  ['7.7.7.7', '7.7.7.7'],
  ['::ffff:7.7.7.7', '7.7.7.7'],
  ['::FFFF:17.7.7.7', '17.7.7.7'],
  ['', ''],
  ['unknown', 'unknown'],
  ['x::ffff:7.7.7.7', 'x::ffff:7.7.7.7'],
])('what is counted for %s counts for “%s”: one IPv4 address, however it is written, or a text that is none', (written, neighbourhood) => {
  expect(neighbourhoodOf(written)).toBe(neighbourhood)
})

test.each<[network: string, ...addresses: string[]]>([
  ['2001:db8:1:2', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::', '2001:db8:1:2::1', '2001:DB8:1:2:ffff:ffff:ffff:ffff', '2001:0db8:0001:0002::5'],
  ['2001:db8:0:0', '2001:db8::', '2001:db8::1', '2001:db8::2:3:4:5', '2001:db8:0:0:1::', '2001:db8:0000:0:1:2:3:4'],
  ['2001:db8:0:1', '2001:db8::1:2:3:4:5', '2001:db8:0:1::9', '2001:db8:0:1:0:0:1.2.3.4'],
  ['0:0:0:0', '::', '::1', '0:0:0:0:5:6:7:8', '::1:2:3:4'],
  ['0:1:2:3', '::1:2:3:4:5:6:7', '0:1:2:3::'],
  ['0:0:0:1', '::1:2:3:4:5', '0:0:0:1::'],
  ['fe80:0:0:0', 'fe80::1%eth0', 'fe80::2', 'fe80::%1', 'fe80:0:0:0:1:2:3:4%eth0'],
  ['1:2:3:0', '1:2:3::4:5:6:7', '1:2:3::', '1:2:3:0:4:5:6:7'],
  ['100:a0:10:0', '100:a0:10::', '0100:00a0:0010:0000::1'],
  ['0:0:0:0', '::ffff:1', '::ffff:7f00:1'],
  ['0:0:ffff:0', '::ffff:0:1:2:3:4'],
])('who has %s::/64 has all of it: its addresses count as one', (network, ...addresses) => {
  for (const address of addresses) expect(neighbourhoodOf(address), address).toBe(network)
})

test('the next IPv6 network is another client', () => {
  expect(neighbourhoodOf('2001:db8:1:3::1')).not.toBe(neighbourhoodOf('2001:db8:1:2::1'))
})
