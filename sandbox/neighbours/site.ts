import { spoilt } from '../faults.ts'
import type { Reply, Vendor } from '../network.ts'
import { json } from '../network.ts'

const handbook = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Handbook</title></head>
<body>
<nav><a href="/site/handbook">Handbook</a></nav>
<main>
<h1>Handbook</h1>
<h2>StoreContext hours</h2>
<p>The office is open from nine to five, Monday to Friday. On the last Friday of a month it closes at noon.</p>
<h2>Visitors</h2>
<p>Visitors ring at the blue door. Somebody comes down within two minutes.</p>
<h2>Lost keys</h2>
<p>Whoever loses a key says so at the front desk on the same day, and gets another one for ten crowns.</p>
</main>
</body>
</html>
`

/** Stand-in for a site of anybody's: a page to read, and an address that leads on into a private network. */
export const site: Vendor = {
  title: 'a web site',
  play: (name, { faults }) => ({
    name,
    received: () => [],
    answer(call) {
      if (call.method !== 'GET') return refuse(405, 'Pages are read by GET.')
      if (call.path === '/elsewhere') return { status: 302, headers: { location: 'http://169.254.169.254/latest/meta-data/' }, body: '', outcome: 'read' }
      if (call.path !== '/handbook') return refuse(404, 'There is no such page.')
      return spoilt(faults, name, {
        refuse: ({ status }) => refuse(status, 'The sandbox was told to refuse this.'),
        take: () => ({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body: handbook, outcome: 'read' }),
      })
    },
  }),
}

const refuse = (status: number, error: string): Reply => ({ ...json(status, { error }, 'refused'), reason: error })
