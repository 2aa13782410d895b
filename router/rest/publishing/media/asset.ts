import { nounRoutes } from '../../derive/route.ts'
import type { Row } from '../../row.ts'

const operations = nounRoutes({
  select: {
    MediaAsset: {
      fields: `
        id brandId kind filename mimeType bytes width height durationMs sha256 altText title tags folderId source status url previewUrl
        previewBroken variants { platform mimeType width height bytes url } usage createdAt authorId: author { id } version`,
      changing: ['status'],
    },
  },
  routes: {
    'GET /api/media': 'mediaAssets',
    'POST /api/media/import': { run: 'importMedia', status: 201, location: '/publishing/api/media/{id}' },
    'GET /api/media/:id': 'mediaAsset',
    'PUT /api/media/:id': 'updateMediaAsset',
    'DELETE /api/media/:id': 'deleteMediaAsset',
  },
})

/** A picture at most, in bytes. */
const mostPictureBytes = 25 * 1024 * 1024
/** A film at most, in bytes. */
const mostFilmBytes = 1024 ** 3

const file = { type: 'string', format: 'binary' } as const
const asset = { type: 'object', additionalProperties: true } as const
const tus = 'It speaks tus 1.0.0 (https://tus.io): `Tus-Resumable: 1.0.0` belongs to each request.'
/** Headers that announce the supported parts of the protocol (https://tus.io/protocols/resumable-upload). */
const abilities = {
  'tus-resumable': '1.0.0',
  'tus-version': '1.0.0',
  'tus-extension': 'creation,creation-with-upload,termination,expiration,checksum',
  'tus-max-size': String(mostFilmBytes),
  'tus-checksum-algorithm': 'sha1,sha256,md5',
} as const
/** Answer to a client with another protocol version, or none. */
const otherProtocol = {
  description: 'It does not speak tus 1.0.0: `Tus-Version` says what is spoken.',
  type: 'application/problem+json',
  schema: { $ref: '#/components/schemas/Problem' },
} as const
const offset = 'Its `Upload-Offset` says how far it is, `Upload-Expires` until when it may rest.'

export const mediaRows: readonly Row[] = [
  ...operations,
  {
    kind: 'forward',
    method: 'POST',
    path: '/api/media',
    access: { scope: 'publishing:posts.write' },
    limit: mostPictureBytes,
    to: 'publishing',
    timeoutMs: 60_000,
    why: 'raw body',
    describes: [
      {
        name: 'uploadPicture',
        does: 'Takes a picture or GIF into the library of a brand: the body is its bytes. Its type is detected from the bytes, not from name or Content-Type; HEIC becomes JPEG; films are uploaded in parts. A picture that is cut off, or that other bytes follow, is refused with 400; 429 when too much of the organization waits to be looked at.',
        query: {
          brandId: 'Whose library.',
          filename: 'Name of the file.',
          folderId: 'A folder of the same brand.',
          altText: 'Alternative text for people who cannot see it.',
        },
        body: { type: 'application/octet-stream', schema: file },
        refuses: [404, 409, 429],
        answers: { 201: { description: 'The asset, with its address in `Location`.', schema: asset } },
      },
    ],
  },
  ...(['/api/media/uploads', '/api/media/uploads/*'] as const).map(
    (path): Row => ({
      kind: 'forward',
      method: path.endsWith('*') ? '*' : 'POST',
      path,
      access: { scope: 'publishing:posts.write' },
      limit: mostFilmBytes,
      to: 'publishing',
      streams: 'up',
      timeoutMs: Number.POSITIVE_INFINITY,
      optionsHeaders: abilities,
      why: 'foreign handler',
      describes: path.endsWith('*')
        ? [
            {
              name: 'continueUpload',
              does: `Sends the next part of an upload, from \`Upload-Offset\` on; \`Upload-Checksum\` (sha1, sha256, md5) is held to it. ${tus}`,
              at: 'PATCH /{id}',
              params: { id: 'The upload.' },
              body: { type: 'application/offset+octet-stream', schema: file },
              refuses: [404, 409, 429],
              answers: { 204: `It has come. ${offset} The last part is answered with the asset in \`X-Media-Asset-Id\`.`, 412: otherProtocol },
            },
            {
              name: 'endUpload',
              does: `Ends an upload that is not whole: what came of it is removed. ${tus}`,
              at: 'DELETE /{id}',
              params: { id: 'The upload.' },
              refuses: [404, 409],
              answers: { 204: 'It is gone.', 412: otherProtocol },
            },
          ]
        : [
            {
              name: 'beginUpload',
              does: `Begins an upload in parts: \`Upload-Length\` says how long it is, \`Upload-Metadata\` \`brandId\`, \`filename\`, \`altText\` and \`folderId\`; the first part may come along. A first part that is no picture or film ends it with 400. ${tus} A rest of 24 hours ends it, too.`,
              body: { type: 'application/offset+octet-stream', schema: file },
              refuses: [404, 409, 429],
              answers: { 201: `It has begun: \`Location\` is where it goes on. ${offset}`, 412: otherProtocol },
            },
          ],
    }),
  ),
  {
    kind: 'forward',
    method: 'GET',
    path: '/media/:id/:variant',
    access: { public: 'Networks and browsers fetch pictures and films by addresses that are signed for an hour or a day, and show nothing else.' },
    limit: 0,
    to: 'publishing',
    why: 'stream',
    describes: [
      {
        name: 'getMedium',
        does: 'The bytes of a picture or film, at an address that the graph answered; parts of them with `Range`.',
        params: { id: 'The asset.', variant: '`original`, `preview`, or a network.' },
        query: { expires: 'Time until which the address is valid, in seconds since 1970.', signature: 'Signature of the address.' },
        refuses: [403, 404],
        answers: { 200: { description: 'The bytes.', type: 'application/octet-stream', schema: file } },
      },
    ],
  },
]
