import { htmlPage } from '../../../http/html.ts'
import { problem } from '../../../http/problem.ts'
import type { Job } from '../../context.ts'
import { everyNetwork } from '../../network/networks.ts'
import type { DeletionStatus } from '../../stores/revocation/signed-request.ts'

const unknown = 'No deletion has this code. Copy the whole address from the network’s message.'

const inWords: Readonly<Record<DeletionStatus, string>> = {
  RECEIVED: 'Your request has come, and is carried out within a minute: load this page again then.',
  IN_PROGRESS: 'Your request is being carried out: load this page again in a minute.',
  COMPLETED: 'Everything that was kept here of your account is deleted: its profile, its places, its access and its figures.',
}

/** Shows the state of a deletion to anyone with its code: as a page, or as JSON on request. */
export async function deletionStatus(job: Job, code: string, request: Request): Promise<Response> {
  const found = /^[0-9a-f]{32}$/.test(code) ? await job.signedRequests.byCode(code) : null
  const wantsJson = /\bapplication\/(?:\w+\+)?json\b/i.test(request.headers.get('accept') ?? '')
  if (!found) return wantsJson ? problem(request, 'NOT_FOUND', unknown) : htmlPage(404, 'Unknown code', unknown)
  const { platform, status, receivedAt, completedAt } = found
  if (wantsJson) {
    const body = { confirmationCode: code, platform: everyNetwork[platform].path, status: status.toLowerCase(), receivedAt, completedAt }
    return Response.json(body, { headers: { 'cache-control': 'no-store', vary: 'accept' } })
  }
  const page = htmlPage(200, `Deletion of your ${everyNetwork[platform].title} data`, inWords[status], `<p>Code: ${code}</p>`)
  page.headers.set('vary', 'accept')
  return page
}
