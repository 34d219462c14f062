// The icons: strokes on a 24 by 24 grid, drawn by us in one style, always beside a word or under a label.

const PATHS = {
  stores: "M4 6c0-1.7 3.6-3 8-3s8 1.3 8 3-3.6 3-8 3-8-1.3-8-3zm0 0v12c0 1.7 3.6 3 8 3s8-1.3 8-3V6M4 12c0 1.7 3.6 3 8 3s8-1.3 8-3",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zm5 12 5 5",
  feed: "M3 12h4l3-8 4 16 3-8h4",
  entities: "M6 8.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zm12 0a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zm-6 12a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM8.5 6h7M7.2 8.2l3.6 7.6m6-7.6-3.6 7.6",
  context: "M4 5h16M4 10h16M4 15h10M4 20h6",
  agents: "M6 8h12a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2v-8a2 2 0 0 1 2-2zm6-5v5M9 13v2m6-2v2",
  access: "M12 3 5 6v5c0 5 3 8.5 7 10 4-1.5 7-5 7-10V6zm-3 9 2.2 2.2L15.5 10",
  audit: "M7 3h8l4 4v14H7zm8 0v4h4M10 12h6m-6 4h6",
  keys: "M8 11a4 4 0 1 0 0 8 4 4 0 0 0 0-8zm3 1.5L20 4m-3 3 3 3m-6 0 2 2",
  sessions: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zm0 5v4.5l3 2",
  health: "M12 20S4 15 4 9.2A4.2 4.2 0 0 1 12 7a4.2 4.2 0 0 1 8 2.2C20 15 12 20 12 20z",
  overview: "M4 20V10m5.3 10V4m5.4 16v-7M20 20V7",
  hygiene: "M5 7h14M9 7V4h6v3m-8 0 1 13h8l1-13M10.5 11v5m3-5v5",
  pin: "M9 3h6l-1 6 3 3v2H7v-2l3-3zm3 11v7",
  edit: "M4 20h4L19 9l-4-4L4 16zM13.5 6.5l4 4",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  close: "M6 6l12 12M18 6 6 18",
  menu: "M4 6h16M4 12h16M4 18h16",
  chevron: "M9 6l6 6-6 6",
  folder: "M3 6h6l2 2h10v11H3z",
  plus: "M12 5v14M5 12h14",
  undo: "M9 8H4V3m0 5a9 9 0 1 1-1 6",
  user: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zm-8 9c.6-4 4-6 8-6s7.4 2 8 6",
  warn: "M12 4 2.5 20h19zm0 6v4m0 3h.01",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  pause: "M8 5v14m8-14v14",
  play: "M7 4l13 8-13 8z",
  settings: "M4 7h10m4 0h2M4 17h4m4 0h8M16 4.5v5M10 14.5v5",
  eye: "M2 12s3.6-7 10-7 10 7 10 7-3.6 7-10 7-10-7-10-7zm10-3a3 3 0 1 0 0 6 3 3 0 0 0 0-6z",
} as const;

export type IconName = keyof typeof PATHS;

/** Decorative: the words beside it, or the button's label, say what it means. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
