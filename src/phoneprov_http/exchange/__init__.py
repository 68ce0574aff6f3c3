"""What Asterisk asks for: devices and lines, by its realtime driver res_config_curl."""
