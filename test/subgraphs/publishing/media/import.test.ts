import { createHash } from 'node:crypto'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { mediaSweeps } from '../../../../subgraphs/publishing/media/prepare.ts'
import { openDoor } from '../../../kit/door.ts'
import { gif, mp4, png } from './files.ts'
import { assetFields, type MediaWorld, mediaWorld } from './world.ts'

/** Somebody's web server, and one in our own network that nobody may have us ask: both say what they were asked for. */
const served = async (answer: RequestListener) => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url!)
    response.on('error', () => {})
    answer(request, response)
  })
  await new Promise<void>(done => {
    server.listen(0, '127.0.0.1', done)
  })
  const { port } = server.address() as AddressInfo
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { asked, port, origin: `http://127.0.0.1:${port}`, close }
}

const pages: Record<string, RequestListener> = {}
let web: Awaited<ReturnType<typeof served>>
let inner: Awaited<ReturnType<typeof served>>
let world: MediaWorld
beforeAll(async () => {
  web = await served((request, response) => {
    const page = pages[new URL(request.url!, 'http://web').pathname]
    if (page) page(request, response)
    else response.writeHead(404).end('nothing')
  })
  inner = await served((_, response) => void response.end(png()))
  world = await mediaWorld({ trusts: [web.origin], inside: [inner.origin] })
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  web.close()
  inner.close()
})
beforeEach(() => {
  web.asked.length = 0
})

const serve = (path: string, bytes: Uint8Array, type = 'text/html') => {
  pages[path] = (_, response) => void response.writeHead(200, { 'content-type': type }).end(bytes)
  return `${web.origin}${path}`
}
const lead = (path: string, to: string, status = 302) => {
  pages[path] = (_, response) => void response.writeHead(status, { location: to }).end()
  return `${web.origin}${path}`
}
const bring = (url: string, more: object = {}, as = world.owner) =>
  world.mutate('importMedia', { brandId: world.brand.id, url, ...more }, assetFields.slice(2, -2), as)
/** What lies in the storage of what was fetched, once everything has gone that is to go now. */
const leftOver = async () => {
  await mediaSweeps(() => world.graph.job)
    .find(({ name }) => name === 'objects that are to go')!
    .run()
  return world.graph.rows(`select key from publishing.media_objects where key like 'imports/%'`)
}

describe('an imported file', () => {
  test('has the type of its bytes, whatever its name and declared type', async () => {
    const picture = png(320, 200)
    const { it, error } = await bring(serve('/photos/My%20cat.txt', picture, 'application/x-msdownload'))
    expect(error).toBe(null)
    expect(it).toMatchObject({ kind: 'IMAGE', mimeType: 'image/png', source: 'IMPORT', status: 'READY', filename: 'My cat.txt', width: 320, height: 200 })
    expect(it).toMatchObject({ sha256: createHash('sha256').update(picture).digest('hex'), previewBroken: false, author: { id: world.owner.userId } })
    expect((await world.http('GET', it.url)).bytes.equals(picture)).toBe(true)
    expect((await bring(serve('/a', gif, 'image/png'))).it).toMatchObject({ kind: 'GIF', mimeType: 'image/gif' })
    const { nodes } = (await world.ask('query($b: ID!) { brandActivities(brandId: $b) { nodes { kind user { id } } } }', { b: world.brand.id })).brandActivities
    expect(nodes).toEqual(Array(2).fill({ kind: 'MEDIA', user: { id: world.owner.userId } }))
    const film = mp4({ padding: 200_000 })
    const { it: clip } = await bring(serve('/clip.jpg', film, 'image/jpeg'))
    expect(clip).toMatchObject({ kind: 'VIDEO', status: 'PROCESSING', bytes: film.length })
    const ready = await world.ready(clip.id)
    expect(ready).toMatchObject({ status: 'READY', durationMs: 1000, width: 640, height: 360, previewUrl: null, previewBroken: true })
    expect((await world.http('GET', ready.url)).bytes.equals(film)).toBe(true)
    expect(await leftOver()).toEqual([])
  })

  test('is fetched once for one key, also when the file is gone by then', async () => {
    const url = serve('/once.png', png())
    const first = await bring(url, { idempotencyKey: 'once' })
    delete pages['/once.png']
    const again = await bring(url, { idempotencyKey: 'once' }, world.member)
    expect([again.error, again.it.id, web.asked.length]).toEqual([null, first.it.id, 1])
    expect((await bring(`${url}?2`, { idempotencyKey: 'once' })).error.extensions).toMatchObject({ code: 'CONFLICT', reason: 'KEY_REUSED' })
  })

  test.each([
    ['a page', Buffer.from('<!doctype html><script>alert(1)</script>'), /JPEG, PNG/],
    ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'), /JPEG, PNG/],
    ['nothing at all', Buffer.alloc(0), /JPEG, PNG/],
    ['a bomb', png(20_000, 20_000, [0, 0, 0], Buffer.alloc(1000)), /100 million/],
    ['a GIF of 16 MiB', Buffer.concat([gif, Buffer.alloc(16 * 1024 * 1024)]), /15 MiB/],
  ])('is not %s: nothing is kept of it', async (_, bytes, sentence) => {
    const { it, error } = await bring(serve('/wrong', bytes, 'image/png'))
    expect([it, error.extensions.code, error.message]).toEqual([null, 'BAD_USER_INPUT', expect.stringMatching(sentence)])
    expect(await leftOver()).toEqual([])
  })

  test('is answered by its route like an upload: 201 with its address, 400 for no medium, 413 for a large one', async () => {
    const token = 'the token of agents, which is long enough'
    await using door = await openDoor(world.graph, { tokens: { own: new Map([['app_agents', [token]]]), gateway: [], dedicated: [] } })
    const headers = { 'x-service-token': token, 'x-app-id': 'app_agents', 'x-organization-id': world.organization.id }
    const ask = async (bytes: Buffer) =>
      door.ask('POST', '/publishing/api/media/import', { headers, body: { brandId: world.brand.id, url: serve('/by-route', bytes) } })
    const made = await ask(png())
    expect([made.status, made.headers.location]).toEqual([201, `/publishing/api/media/${made.json.id}`])
    expect(await ask(Buffer.from('a page'))).toMatchObject({ status: 400, json: { code: 'BAD_USER_INPUT', field: 'url' } })
    expect(await ask(Buffer.concat([gif, Buffer.alloc(16 * 1024 * 1024)]))).toMatchObject({ status: 413, json: { status: 413, reason: 'TOO_LARGE' } })
  })

  test('is rejected for another organization’s brand', async () => {
    const url = serve('/theirs.png', png())
    expect((await bring(url, {}, world.outsider)).error.extensions.code).toBe('NOT_FOUND')
    expect(web.asked).toEqual([])
  })

  test('is reported as missing where the address has none', async () => {
    expect((await bring(`${web.origin}/no-such`)).error).toMatchObject({ message: expect.stringContaining('404'), extensions: { code: 'UPSTREAM_FAILED' } })
  })
})

describe('an address that redirects', () => {
  test('is followed five times, also to a relative location', async () => {
    serve('/there/it-is.png', png(16, 16))
    lead('/three', '../there/it-is.png', 308)
    lead('/two', `${web.origin}/three`, 307)
    const { it, error } = await bring(lead('/one.png', '/two', 301))
    expect([error, it.width, it.filename, web.asked]).toEqual([null, 16, 'one.png', ['/one.png', '/two', '/three', '/there/it-is.png']])
    web.asked.length = 0
    const round = await bring(lead('/round', '/round'))
    expect([round.error.extensions.code, web.asked.length]).toEqual(['UPSTREAM_FAILED', 6])
  })

  test.each([
    ['a private network', 'http://10.0.0.1/x.png'],
    ['this machine', 'http://127.0.0.1:9/x.png'],
    ['this machine by its name', 'http://localhost:9/x.png'],
    ['the settings of a cloud', 'http://169.254.169.254/latest/meta-data/'],
    ['IPv6 of this machine', 'http://[::1]:9/'],
    ['IPv4 inside IPv6', 'http://[::ffff:169.254.169.254]/'],
    ['a number that is an address', 'http://2130706433/'],
    ['a file', 'file:///etc/passwd'],
    ['another way to reach somebody', 'ftp://example.com/x.png'],
  ])('%s is neither asked itself nor when another address leads there', async (_, to) => {
    for (const url of [to, lead('/away', to)]) {
      const { it, error } = await bring(url)
      expect([it, error.extensions.code, error.extensions.field]).toEqual([null, 'BAD_USER_INPUT', 'url'])
    }
  })

  test('must not lead to the platform’s own internal services', async () => {
    for (const url of [`${inner.origin}/secret.png`, lead('/in', `${inner.origin}/secret.png`)]) {
      expect((await bring(url)).error).toMatchObject({ message: expect.stringContaining('not public'), extensions: { code: 'BAD_USER_INPUT' } })
    }
    expect(inner.asked).toEqual([])
    // The same server by a name that nobody trusted.
    expect((await bring(`http://localhost:${web.port}/photos/My%20cat.txt`)).error.extensions.code).toBe('BAD_USER_INPUT')
    expect(web.asked).toEqual(['/in'])
  })
})

describe('a body without an end', () => {
  test.each([
    ['a picture', png().subarray(0, 60), /25 MiB/],
    ['no medium', Buffer.from('an endless page '), /JPEG, PNG/],
  ])('%s is left as soon as that is known, and nothing of it stays', async (_, head, sentence) => {
    const gone = Promise.withResolvers<void>()
    let sent = 0
    pages['/endless'] = (_request, response) => {
      response.writeHead(200)
      response.write(head)
      const more = Buffer.alloc(1024 * 1024, 1)
      const write = () => {
        while (!response.destroyed) {
          sent += more.length
          if (!response.write(more)) return void response.once('drain', write)
        }
      }
      response.once('close', gone.resolve)
      write()
    }
    const { error } = await bring(`${web.origin}/endless`)
    expect([error.extensions.code, error.message]).toEqual(['BAD_USER_INPUT', expect.stringMatching(sentence)])
    await gone.promise
    expect(sent).toBeLessThan(64 * 1024 * 1024)
    expect(await leftOver()).toEqual([])
  })

  test('is given up after a file’s time limit when it arrives drop by drop', async () => {
    const { stream } = world.graph.job.outbound
    // A hundredth of the time.
    const hurry = vi.spyOn(world.graph.job.outbound, 'stream').mockImplementation((url, options) => {
      expect(options!.totalMs).toBeLessThanOrEqual(25_000)
      return stream(url, { ...options, totalMs: options!.totalMs! / 100 })
    })
    const gone = Promise.withResolvers<void>()
    pages['/drops'] = (_, response) => {
      response.writeHead(200)
      const dripping = setInterval(() => response.write(Buffer.alloc(10_000, 1)), 20)
      response.once('close', () => {
        clearInterval(dripping)
        gone.resolve()
      })
      response.write(png().subarray(0, 60))
    }
    try {
      expect((await bring(`${web.origin}/drops`)).error.extensions.code).toBe('UPSTREAM_FAILED')
    } finally {
      hurry.mockRestore()
    }
    await gone.promise
    expect(await leftOver()).toEqual([])
  })
})
