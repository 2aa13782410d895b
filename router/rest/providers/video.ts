import { nounRoutes } from '../derive/route.ts'
import type { Row } from '../row.ts'

/** Maximum bytes of a video: YouTube accepts files of up to 256 GiB. */
const mostBytes = 256 * 1024 ** 3

const any = { type: 'object', additionalProperties: true } as const
const file = { type: 'string', format: 'binary' } as const
const token = 'Besides its own credentials a service sends `X-Connection-Token`, the access token of the account that it calls for.'

export const videoRows: readonly Row[] = [
  ...nounRoutes({
    select: { VideoQuotaBucket: 'name dailyLimit used remaining organizationLimit organizationUsed apps { appId used } resetsAt' },
    routes: { 'GET /api/video/quota': { run: 'videoQuota', list: 'buckets', counted: true } },
  }),
  {
    kind: 'forward',
    method: '*',
    path: '/platform/youtube/*',
    access: { scope: 'providers:service.invoke' },
    limit: mostBytes,
    to: 'providers',
    streams: 'up',
    timeoutMs: Number.POSITIVE_INFINITY,
    why: 'stream',
    describes: [
      {
        name: 'listYoutubeChannels',
        does: `What YouTube's data interface (version 3) answers: every call of it below \`youtube/v3/\` is passed on and counted, its body and its answer as they are. ${token}`,
        at: 'GET /youtube/v3/channels',
        query: { part: 'Parts of each channel, comma-separated.', mine: 'Whether to return the channels of the account.' },
        refuses: [404, 429],
        answers: {
          200: { description: 'As YouTube answers, with `x-quota-bucket`, `x-quota-cost`, `x-quota-remaining` and `x-quota-resets-at`.', schema: any },
        },
      },
      {
        name: 'uploadYoutubeVideo',
        does: `Begins an upload in parts (\`uploadType=resumable\`), which \`Location\` says where to go on, or sends a film in one call. It counts once. ${token}`,
        at: 'POST /upload/youtube/v3/videos',
        query: { part: 'The metadata of the film.', uploadType: '`resumable`, `multipart` or `media`.' },
        body: { schema: any },
        refuses: [404, 429],
        answers: { 200: { description: 'As YouTube answers; of an upload in parts its address in `Location`.', schema: any } },
      },
      {
        name: 'continueYoutubeUpload',
        does: `Sends a part of an upload, or with \`Content-Range: bytes */<size>\` asks how far it is. ${token}`,
        at: 'PUT /upload/youtube/v3/videos',
        query: { part: 'The same as in the first call.', uploadType: '`resumable`.', upload_id: 'As `Location` has it.' },
        body: { type: 'application/octet-stream', schema: file },
        refuses: [404, 429],
        answers: { 200: { description: 'The film.', schema: any }, 308: 'The upload goes on: `Range` says how far it is.' },
      },
    ],
  },
]
