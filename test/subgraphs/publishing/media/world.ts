import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { until } from '../../../kit/launch.ts'
import { type SupergraphOptions, supergraph } from '../../../kit/supergraph.ts'
import { png } from './files.ts'

export const origin = 'http://localhost:4000'

export const assetFields = `{ id brandId kind filename mimeType bytes width height durationMs sha256 altText title tags folderId source status url previewUrl previewBroken
  variants { platform mimeType width height bytes url } usage author { id } version }`

// biome-ignore lint/suspicious/noExplicitAny: an answer has the shape of its question, which each test writes out
type Any = any

/** A platform with a brand, and ways to bring files into its library. */
export async function mediaWorld(options: SupergraphOptions = {}) {
  const graph = await supergraph(options)
  const world = await graph.seed.owner().member().outsider().brand()
  const { owner, brand } = world
  const http = async (
    method: string,
    path: string,
    { as = owner, headers = {}, body }: { as?: Viewer; headers?: Record<string, string>; body?: Buffer | ReadableStream } = {},
  ) => {
    const init = body === undefined ? {} : body instanceof ReadableStream ? { body, duplex: 'half' } : { body: new Uint8Array(body) }
    const answer = await graph.platform.publishing.http!(
      new Request(path.startsWith('http') ? path : `${origin}/publishing${path}`, { method, headers, ...init } as RequestInit),
      as,
    )
    const bytes = Buffer.from(await answer.arrayBuffer())
    const isJson = /json/.test(answer.headers.get('content-type') ?? '')
    return { status: answer.status, headers: answer.headers, bytes, json: (isJson ? JSON.parse(bytes.toString()) : null) as Any }
  }
  const ask = async (text: string, variables: Record<string, unknown> = {}, as: Viewer = owner): Promise<Any> =>
    (await graph.execute(text, variables, { as })).data()
  const mutate = async (name: string, input: object, fields = 'id', as: Viewer = owner) => {
    const answer = await graph.execute(
      `mutation($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ${fields} } }`,
      { input },
      { as },
    )
    const { data, errors } = answer.partial
    return { it: ((data as Any)?.[name] ?? null) as Any, error: (errors?.[0] ?? null) as Any }
  }
  const asset = async (id: string, as: Viewer = owner) => (await ask(`query($id: ID!) { mediaAsset(id: $id) ${assetFields} }`, { id }, as)).mediaAsset
  const tus = { 'tus-resumable': '1.0.0' }
  return {
    ...world,
    graph,
    http,
    ask,
    mutate,
    asset,
    tus,
    upload: (bytes: Buffer = png(), query = `brandId=${brand.id}&filename=a.png`, as?: Viewer) =>
      http('POST', `/api/media?${query}`, { body: bytes, headers: { 'content-type': 'text/plain' }, ...(as && { as }) }),
    /** Begins an upload in parts. @returns its address, and what was answered */
    async begin(length: number, more: Record<string, string> = {}, as?: Viewer) {
      const metadata = Object.entries({ brandId: brand.id, filename: 'clip.mp4', ...more })
        .map(([name, value]) => `${name} ${Buffer.from(value).toString('base64')}`)
        .join(',')
      const answer = await http('POST', '/api/media/uploads', {
        headers: { ...tus, 'upload-length': String(length), 'upload-metadata': metadata },
        ...(as && { as }),
      })
      return { ...answer, at: answer.headers.get('location')! }
    },
    patch: (at: string, offset: number, body: Buffer | ReadableStream, headers: Record<string, string> = {}, as?: Viewer) =>
      http('PATCH', at, {
        body,
        headers: { ...tus, 'upload-offset': String(offset), 'content-type': 'application/offset+octet-stream', ...headers },
        ...(as && { as }),
      }),
    async ready(id: string) {
      await until('the asset is looked at', async () => {
        await graph.clock.run(1_000)
        return (await asset(id)).status !== 'PROCESSING'
      })
      return asset(id)
    },
    [Symbol.asyncDispose]: () => graph[Symbol.asyncDispose](),
  }
}

export type MediaWorld = Awaited<ReturnType<typeof mediaWorld>>
