import { personProfileRows } from './agents/person-profile.ts'
import { profileSourceRows } from './agents/profile-source.ts'
import { styleSnapshotRows } from './agents/style-snapshot.ts'
import { widgetRows as agentsWidgetRows } from './agents/widget.ts'
import { credentialRows } from './identity/credentials.ts'
import { pageRows } from './identity/pages.ts'
import { orderRows } from './payments/order.ts'
import { serviceIdentityRows } from './payments/service-identity.ts'
import { widgetRows as paymentsWidgetRows } from './payments/widget.ts'
import { credentialRows as providerCredentialRows } from './providers/credential.ts'
import { widgetRows as providersWidgetRows } from './providers/widget.ts'
import { brandRows } from './publishing/brand.ts'
import { integrationRows } from './publishing/integration.ts'
import { postRows } from './publishing/post.ts'
import { widgetRows } from './publishing/widget.ts'
import type { RouteTable } from './row.ts'

/** Every REST route of the platform. */
export const routeTables: readonly RouteTable[] = [
  { slug: 'agents', rows: [...personProfileRows, ...profileSourceRows, ...styleSnapshotRows, ...agentsWidgetRows] },
  { slug: 'identity', rows: [...credentialRows, ...pageRows] },
  { slug: 'payments', rows: [...orderRows, ...serviceIdentityRows, ...paymentsWidgetRows] },
  { slug: 'providers', rows: [...providerCredentialRows, ...providersWidgetRows] },
  { slug: 'publishing', rows: [...brandRows, ...postRows, ...integrationRows, ...widgetRows] },
]
