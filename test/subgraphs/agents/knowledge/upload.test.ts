import { deflateSync } from 'node:zlib'
import PDFDocument from 'pdfkit'
import { describe, expect, it } from 'vitest'
import { openPdfReader } from '../../../../subgraphs/agents/engines/page/pdf.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'

/** A PDF with a page for each text. */
function pdf(pages: readonly string[], options: { readonly userPassword?: string } = {}): Promise<Buffer> {
  // Invoices need other options than these.
  const Document = PDFDocument as unknown as new (options: object) => PDFDocument
  const document = new Document({ autoFirstPage: false, ...options })
  const parts: Buffer[] = []
  const done = Promise.withResolvers<Buffer>()
  document.on('data', (part: Buffer) => parts.push(part)).on('end', () => done.resolve(Buffer.concat(parts)))
  for (const text of pages) document.addPage().text(text, 40, 40, {})
  document.end()
  return done.promise
}

/** A PDF whose only page unpacks to so many bytes. */
function bomb(bytes: number): Buffer {
  const packed = deflateSync(Buffer.alloc(bytes, ' '))
  const head = [
    '%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj',
    '3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources<<>>>>endobj',
    `4 0 obj<</Length ${packed.length}/Filter/FlateDecode>>stream\n`,
  ].join('\n')
  return Buffer.concat([Buffer.from(head), packed, Buffer.from('\nendstream endobj\ntrailer<</Root 1 0 R/Size 5>>\n%%EOF')])
}

/** An owner who uploads. */
async function library(graph: Supergraph) {
  const { owner, outsider } = await graph.seed.owner().outsider()
  const upload = (query: string, type: string, body: string | Uint8Array<ArrayBuffer>, headers: Readonly<Record<string, string>> = {}, as: Viewer = owner) =>
    graph.platform.agents.http!(
      new Request(`http://agents.test/agents/api/knowledge-sources/uploads${query}`, { method: 'POST', headers: { 'content-type': type, ...headers }, body }),
      as,
    )
  const read = async (id: string) => {
    const document = '{ status kind visibility url documents { nodes { text } } }'
    return (await graph.execute(`query($id: ID!) { knowledgeSource(id: $id) ${document} }`, { id }, { as: owner })).data().knowledgeSource
  }
  return {
    ...{ owner, outsider, upload },
    /** Uploads a file and waits for its text. */
    async textOf(query: string, type: string, body: string | Uint8Array<ArrayBuffer>): Promise<string> {
      const answer = await upload(query, type, body)
      expect(answer.status).toBe(201)
      const { id } = (await answer.json()) as { id: string }
      const settled = async () => {
        await graph.clock.run(1)
        return (await read(id)).status
      }
      await expect.poll(settled, { timeout: 10_000 }).toBe('READY')
      return (await read(id)).documents.nodes[0].text
    },
  }
}

describe('an uploaded file', () => {
  it('is knowledge by its text: plain, Markdown, HTML or PDF', async () => {
    await using graph = await supergraph()
    const { textOf, upload } = await library(graph)
    expect(await textOf('?title=Notes', 'text/plain; charset=utf-8', 'The zebra rule.')).toBe('The zebra rule.')
    expect(await textOf('?title=Marked', 'text/markdown', '# Rules\n\nMeasure *twice*.')).toBe('# Rules\n\nMeasure *twice*.')
    expect(await textOf('?title=Page', 'text/html', '<script>no()</script><h1>Rules</h1><p>Measure twice.')).toBe('Rules\n\nMeasure twice.')
    const printed = await pdf(['The zebra rule: measure twice.', 'Page two.'])
    expect(await textOf('?title=Printed&visibility=public&url=https%3A%2F%2Fpage.test%2F', 'application/pdf', new Uint8Array(printed))).toMatch(
      /^The zebra rule: measure twice\.\s+Page two\.$/,
    )
    const answer = await upload('?title=Shown', 'text/plain', 'Words.')
    expect(await answer.json()).toMatchObject({ title: 'Shown', kind: 'upload', visibility: 'organization', status: 'pending', chunks: 0, version: 1 })
    expect(answer.headers.get('location')).toMatch(/^\/agents\/api\/knowledge-sources\/[0-9a-f-]{36}$/)
  })

  it('is one for one idempotency key, and refused for another file under it', async () => {
    await using graph = await supergraph()
    const { upload } = await library(graph)
    const once = async (text: string) => (await upload('?title=Once', 'text/plain', text, { 'idempotency-key': 'key-1' })).json() as Promise<{ id: string }>
    const [first, second] = [await once('Words.'), await once('Words.')]
    expect(second.id).toBe(first.id)
    expect(await once('Other words.')).toMatchObject({ reason: 'KEY_REUSED' })
  })

  it.each([
    ['another type', '?title=A', 'image/png', 'x', 'body'],
    ['no bytes', '?title=A', 'text/plain', '', 'body'],
    ['no words', '?title=A', 'text/plain', ' ', 'text'],
    ['no UTF-8', '?title=A', 'text/plain', new Uint8Array([0xff, 0xfe, 0xfd]), 'body'],
    ['no title', '', 'text/plain', 'Words.', 'title'],
    ['no PDF', '?title=A', 'application/pdf', '%PDF-1.7 nothing', 'body'],
    ['a public file without an address', '?title=A&visibility=public', 'text/plain', 'Words.', 'url'],
    ['an unknown parameter', '?title=A&folder=b', 'text/plain', 'Words.', 'folder'],
  ] as const)('is refused with the field for %s', async (_, query, type, body, field) => {
    await using graph = await supergraph()
    const { upload } = await library(graph)
    const answer = await upload(query, type, body as string)
    expect([answer.status, await answer.json()]).toMatchObject([400, { field }])
    expect(await graph.rows('select id from agents.knowledge_sources')).toEqual([])
  })
})

describe('the reader of PDF', () => {
  const most = 1_048_576

  it('refuses documents that are protected, damaged, too long, or have nothing to read', async () => {
    const { read } = openPdfReader()
    expect(await read('o', await pdf(['Secret.'], { userPassword: 'x' }), most)).toEqual({ refused: 'encrypted' })
    const whole = await pdf(['Words.'])
    expect(await read('o', whole.subarray(0, whole.length / 2), most)).toEqual({ refused: 'damaged' })
    expect(await read('o', await pdf(Array.from({ length: 1_001 }, () => '')), most)).toEqual({ refused: 'pages' })
    expect(await read('o', await pdf(['']), most)).toMatchObject({ text: expect.not.stringMatching(/\S/) })
  })

  it('ends documents that unpack to more than they may, refer to themselves, or take too long', async () => {
    const { read } = openPdfReader(8_000)
    const found = await read('o', bomb(200_000_000), most)
    expect('text' in found ? found.text.trim() : '').toBe('')
    const loop =
      '%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[2 0 R 2 0 R]/Count 900>>endobj\ntrailer<</Root 1 0 R/Size 3>>\n%%EOF'
    const looped = await read('o', Buffer.from(loop), most)
    expect('text' in looped ? looped.text.trim() : '').toBe('')
    expect(await openPdfReader(1).read('o', await pdf(['Words.']), most)).toEqual({ refused: 'costly' })
  })
})
