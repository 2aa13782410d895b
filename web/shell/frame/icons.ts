import { AppWindow, CalendarDays, ChartColumn, Image, LayoutDashboard, ListChecks, type LucideIcon, Newspaper, PenLine, Plug, Settings } from 'lucide-react'

/** Icons of the rail, by the names that the tables of pages give them. */
export const icons: Readonly<Record<string, LucideIcon>> = {
  dashboard: LayoutDashboard,
  apps: AppWindow,
  media: Image,
  analytics: ChartColumn,
  actions: ListChecks,
  settings: Settings,
  posts: Newspaper,
  compose: PenLine,
  calendar: CalendarDays,
  integrations: Plug,
}
