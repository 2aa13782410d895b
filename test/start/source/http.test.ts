import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { newFolder, open, published, serve } from './stage.ts'

const [one, two, three] = ['type Query { one: Int }', 'type Query { two: Int }', 'type Query { three: Int }']

describe('a supergraph at an address', () => {
  test('is read with the headers of the settings, asked for by its ETag, and taken when it changes', async () => {
    const at = await published(one)
    const { source, follow, changes, polls, lines, age } = open(at.url, { hiveKey: 'the-key', headers: { 'x-tenant': 't1' } })
    expect(await source.read()).toBe(one)
    expect(at.state.asked[0]).toMatchObject({ 'x-hive-cdn-key': 'the-key', 'x-tenant': 't1' })
    expect(at.state.asked[0]!['if-none-match']).toBeUndefined()
    source.keep(one)
    follow()
    await expect.poll(async () => (await polls()).unchanged).toBeGreaterThan(2)
    expect(at.state.asked.at(-1)!['if-none-match']).toBe('"1"')
    Object.assign(at.state, { sdl: two, tag: '"2"' })
    await expect.poll(() => changes).toEqual([two])
    await expect.poll(() => at.state.asked.at(-1)!['if-none-match']).toBe('"2"')
    expect(source.kept()).toMatchObject({ sdl: two, tag: '"2"' })
    expect((await polls()).changed).toBe(1)
    expect(await age()).toBeLessThan(5)
    expect(lines).toEqual([])
  })

  test('is compared by its text where it has no ETag', async () => {
    const at = await published(one)
    at.state.tag = null
    const { source, follow, changes, polls } = open(at.url)
    expect(await source.read()).toBe(one)
    follow()
    await expect.poll(async () => (await polls()).unchanged).toBeGreaterThan(2)
    at.state.sdl = two
    await expect.poll(() => changes).toEqual([two])
  })

  test('that cannot be used is offered once, and is not kept', async () => {
    const at = await published(one)
    const { source, follow, changes, polls } = open(at.url)
    await source.read()
    source.keep(one)
    follow(sdl => sdl !== two)
    Object.assign(at.state, { sdl: two, tag: '"2"' })
    await expect.poll(async () => (await polls()).refused).toBe(1)
    const { unchanged } = await polls()
    await expect.poll(async () => (await polls()).unchanged).toBeGreaterThan(unchanged! + 2)
    expect(changes).toEqual([two])
    expect(source.kept()!.sdl).toBe(one)
    Object.assign(at.state, { sdl: three, tag: '"3"' })
    await expect.poll(() => source.kept()!.sdl).toBe(three)
  })

  test('that is away is one line, and another when it is back; what it has then is taken', async () => {
    const at = await published(one)
    const { source, follow, changes, polls, lines } = open(at.url)
    await source.read()
    follow()
    at.state.status = 503
    await expect.poll(async () => (await polls()).failed).toBeGreaterThan(2)
    expect(lines).toEqual([`${at.url} cannot be read (${at.url} answered 503); the present graph stays in use`])
    Object.assign(at.state, { status: 200, sdl: two, tag: '"2"' })
    await expect.poll(() => changes).toEqual([two])
    expect(lines.slice(1)).toEqual([`${at.url} can be read again`])
  })

  test('is asked at its next address where one fails, and by the ETag of the address that gave it', async () => {
    const [first, second] = [await published(one), await published(one)]
    second.state.tag = '"of the second"'
    const { source, follow, polls, lines } = open(`${first.url}, ${second.url}`)
    first.state.status = 500
    expect(await source.read()).toBe(one)
    follow()
    await expect.poll(async () => (await polls()).unchanged).toBeGreaterThan(1)
    expect(second.state.asked.at(-1)!['if-none-match']).toBe('"of the second"')
    // It stays at the one that answers, until that fails.
    expect(first.state.asked).toHaveLength(1)
    Object.assign(first.state, { status: 200 })
    second.state.status = 500
    await expect.poll(() => first.state.asked.at(-1)!['if-none-match']).toBe('"1"')
    expect(first.state.asked[1]!['if-none-match']).toBeUndefined()
    expect(lines).toEqual([])
  })

  test('user and password of an address are sent as such, and stand in no message', async () => {
    const at = await published(one)
    at.state.status = 401
    const { source } = open(at.url.replace('//', '//reader:se%63ret@').concat('?token=hidden'))
    await expect(source.read()).rejects.toThrow(`${at.url} cannot be read (${at.url} answered 401), and no supergraph of it is kept in `)
    expect(at.state.asked[0]!.authorization).toBe(`Basic ${Buffer.from('reader:secret').toString('base64')}`)
  })

  test('is asked at once when the process is told to look', async () => {
    const at = await published(one)
    const { source, follow, changes } = open(at.url, { pollMs: 3_600_000 })
    await source.read()
    const following = follow()
    Object.assign(at.state, { sdl: two, tag: '"2"' })
    following.look()
    await expect.poll(() => changes).toEqual([two])
  })
})

describe('a start without the network', () => {
  test('uses what was kept, and says from when; then asks by the ETag of that', async () => {
    const folder = newFolder()
    const at = await published(one)
    const before = open(at.url, { folder })
    before.source.keep(await before.source.read())
    const { at: when } = before.source.kept()!
    at.state.status = 502
    const { source, follow, lines, changes } = open(at.url, { folder })
    expect(await source.read()).toBe(one)
    expect(lines).toEqual([`${at.url} cannot be read (${at.url} answered 502): starts with the supergraph of ${when}, which was kept`])
    follow()
    at.state.status = 200
    await expect.poll(() => at.state.asked.at(-1)!['if-none-match']).toBe('"1"')
    await expect.poll(() => lines.slice(1)).toEqual([`${at.url} can be read again`])
    expect(changes).toEqual([])
    // An unchanged one need not be sent again.
    const again = open(at.url, { folder })
    expect(await again.source.read()).toBe(one)
    expect(at.state.asked.at(-1)!['if-none-match']).toBe('"1"')
  })

  test('fails with one line where nothing was kept, or what was kept is damaged or of another address', async () => {
    const folder = newFolder()
    const [at, other] = [await published(one), await published(two)]
    const before = open(at.url, { folder })
    before.source.keep(await before.source.read())
    const file = join(folder, readdirSync(folder)[0]!)
    expect(readFileSync(file, 'utf8')).not.toContain(at.url)
    await Promise.all([at.stop(), other.stop()])
    await expect(open(other.url, { folder }).source.read()).rejects.toThrow(/cannot be read \(.*could not be asked: .*\), and no supergraph of it is kept in /)
    writeFileSync(file, '{"sdl": "type Que')
    await expect(open(at.url, { folder }).source.read()).rejects.toThrow('no supergraph of it is kept')
  })

  test('a folder that cannot be written is one line, and the graph is used', async () => {
    const file = join(newFolder(), 'file')
    writeFileSync(file, '')
    const at = await published(one)
    const { source, lines } = open(at.url, { folder: file })
    source.keep(await source.read())
    expect(lines).toEqual([
      expect.stringMatching(/^the supergraph of http:\S+ cannot be kept \(.*\): a start without the network would fail; see SUPERGRAPH_CACHE_DIR$/),
    ])
    expect(source.kept()!.sdl).toBe(one)
  })
})

describe('redirects', () => {
  test('are followed three times, and headers go to the first origin alone', async () => {
    const at = await published(one)
    const hops: string[] = []
    const first = await serve((request, response) => {
      hops.push(request.url!)
      const location = { '/a': '/b', '/b': '/c', '/c': at.url }[request.url!]!
      response.writeHead(302, { location }).end()
    })
    // Its origin is one that the operator named as well.
    const { source } = open(`${first.origin}/a,${at.url}`, { hiveKey: 'the-key' })
    expect(await source.read()).toBe(one)
    expect(hops).toEqual(['/a', '/b', '/c'])
    expect(at.state.asked).toHaveLength(1)
    expect(at.state.asked[0]!['x-hive-cdn-key']).toBeUndefined()
  })

  test.for([
    ['a fourth one', (origin: string) => `${origin}/again`, /redirects more than 3 times/],
    ['another scheme', () => 'https://example.com/supergraph', /redirects to https:, and only http: is followed/],
    ['a private address that nobody named', () => 'http://127.0.0.1:9/', /127\.0\.0\.1:9 is not a public address/],
    ['no address', () => 'http://', /redirects to no address/],
  ] as const)('%s is refused', async ([, location, sentence]) => {
    const at = await serve((request, response) => void response.writeHead(307, { location: location(`http://${request.headers.host}`) }).end())
    await expect(open(at.origin).source.read()).rejects.toThrow(sentence)
  })
})

test('an answer of more than 32 MiB is refused before it is here', async () => {
  let sent = 0
  const at = await serve((_, response) => {
    const piece = Buffer.alloc(1024 * 1024, ' ')
    const more = () => {
      while (sent < 200 && !response.destroyed) {
        sent += 1
        if (!response.write(piece)) return void response.once('drain', more)
      }
      response.end()
    }
    more()
  })
  await expect(open(at.origin).source.read()).rejects.toThrow(/33554432 bytes/)
  expect(sent).toBeLessThan(60)
})

test.for(['ftp://example.com/x', 'http://', 'http://example.com/a,file', 's3://b', 's3://bucket/'])('%s is no source', named => {
  expect(() => open(named, { s3: { endpoint: 'http://x', region: 'r', accessKeyId: 'k', secretAccessKey: 's', pathStyle: true } })).toThrow(
    /is not understood: /,
  )
})
