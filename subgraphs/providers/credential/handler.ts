import { DomainError } from '../../../platform/errors.ts'
import type { Handlers } from '../../http/handlers.ts'
import { write } from '../../store/write.ts'
import { activeOrganization, type Viewer } from '../../viewer.ts'
import { requireOperation } from '../administration/caller.ts'
import type { Context } from '../context.ts'
import { isProvider, providerOf } from '../engines/third-party/catalogue.ts'

const below = '/providers/api/internal/network-applications/'

/** Returns a network application, secret included, to the one service that connects accounts with it. */
export const credentialHandlers = (open: (viewer: Viewer, request: Request) => Context): Handlers => ({
  [`GET ${below}*`]: async (request, viewer) => {
    const context = open(viewer, request)
    await requireOperation(context, 'NETWORK_APPLICATIONS')
    const organizationId = activeOrganization(viewer, 'Applications')
    const platform = new URL(request.url).pathname.slice(below.length)
    const found = isProvider(platform) && providerOf(platform).family === 'NETWORK' ? await context.credentialsInUse.resolve(platform, organizationId) : null
    if (!found) throw new DomainError('NOT_FOUND', `There is no application for ${platform.slice(0, 40)}: add a credential of that network first.`)
    // The audit entry belongs to the credential's owner.
    const tenantId = found.level === 'PLATFORM' ? ((await context.platformOrganization.find()) ?? organizationId) : organizationId
    await write(context, {
      run: async () => found.id,
      audit: id => ({ tenantId, action: 'network_application.read', subjectId: id, details: { platform, level: found.level, organizationId } }),
    })
    const body = { platform, clientId: found.plain.clientId, clientSecret: found.secrets[0] }
    return Response.json(body, { headers: { 'cache-control': 'no-store' } })
  },
})
